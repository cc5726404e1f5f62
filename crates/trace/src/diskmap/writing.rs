use crate::diskmap::canvas::{PALETTE, SAME};
use crate::diskmap::{Animation, Canvas, DiskmapError};
use std::io::Write;

/// How long the last frame stays, in frames.
const LAST_STAYS: u16 = 20;

pub fn write_png(out: &mut impl Write, canvas: &Canvas) -> Result<(), DiskmapError> {
    let mut writer = encoder(out, canvas)?.write_header().map_err(failed)?;
    writer.write_image_data(&canvas.pixels).map_err(failed)?;
    writer.finish().map_err(failed)
}

/// An animation as PNG, which browsers play and other programs show as its first picture. `frames_per_second` is at least 1.
pub fn write_animated_png(
    out: &mut impl Write,
    mut animation: Animation<'_>,
    frames_per_second: u16,
) -> Result<(), DiskmapError> {
    let frames = animation.frames() as u32;
    let Some(first) = animation.next() else {
        return Ok(());
    };
    let mut encoder = encoder(out, &first)?;
    encoder.set_animated(frames, 0).map_err(failed)?;
    encoder.set_frame_delay(1, frames_per_second.max(1)).map_err(failed)?;
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&first.pixels).map_err(failed)?;
    let mut written = 1;
    for frame in animation {
        written += 1;
        if written == frames {
            writer.set_frame_delay(LAST_STAYS, frames_per_second.max(1)).map_err(failed)?;
        }
        writer.write_image_data(&frame.pixels).map_err(failed)?;
    }
    writer.finish().map_err(failed)
}

/// An animation as GIF. Its clock has hundredths of a second, and many programs show no more than 50 frames in one.
pub fn write_gif(
    out: &mut impl Write,
    animation: Animation<'_>,
    frames_per_second: u16,
) -> Result<(), DiskmapError> {
    let delay = (100 / frames_per_second.clamp(1, 50)).max(2);
    let frames = animation.frames();
    let mut encoder = None;
    let mut out = Some(out);
    let mut before: Option<Canvas> = None;
    for (index, canvas) in animation.enumerate() {
        let side = |pixels: usize| u16::try_from(pixels).map_err(failed);
        let (width, height) = (side(canvas.width)?, side(canvas.height)?);
        if let Some(out) = out.take() {
            let mut made =
                gif::Encoder::new(out, width, height, PALETTE.as_flattened()).map_err(failed)?;
            made.set_repeat(gif::Repeat::Infinite).map_err(failed)?;
            encoder = Some(made);
        }
        let mut pixels = canvas.pixels.clone();
        if let Some(before) = &before {
            for (pixel, old) in pixels.iter_mut().zip(&before.pixels) {
                if pixel == old {
                    *pixel = SAME;
                }
            }
        }
        let mut frame = gif::Frame::from_indexed_pixels(width, height, pixels, Some(SAME));
        frame.dispose = gif::DisposalMethod::Keep;
        frame.delay = if index + 1 == frames { LAST_STAYS * delay } else { delay };
        if let Some(encoder) = &mut encoder {
            encoder.write_frame(&frame).map_err(failed)?;
        }
        before = Some(canvas);
    }
    Ok(())
}

fn encoder<'a, W: Write>(out: W, canvas: &Canvas) -> Result<png::Encoder<'a, W>, DiskmapError> {
    let side = |pixels: usize| u32::try_from(pixels).map_err(failed);
    let mut encoder = png::Encoder::new(out, side(canvas.width)?, side(canvas.height)?);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(PALETTE.as_flattened().to_vec());
    Ok(encoder)
}

fn failed(error: impl std::fmt::Display) -> DiskmapError {
    DiskmapError::Picture(error.to_string())
}
