//! A picture of few colours.

/// Shades of each kind of access, from hardly any to the most.
pub(crate) const SHADES: u8 = 16;
pub(crate) const BACKGROUND: u8 = 0;
pub(crate) const PAPER: u8 = 1;
pub(crate) const INK: u8 = 2;
pub(crate) const FAINT: u8 = 3;
pub(crate) const READS: u8 = 4;
pub(crate) const WRITES: u8 = READS + SHADES;
/// Stands for what is as in the frame before.
pub(crate) const SAME: u8 = WRITES + SHADES;

/// Every colour that a picture has: red, green, blue.
pub const PALETTE: [[u8; 3]; SAME as usize + 1] = palette();

const fn palette() -> [[u8; 3]; SAME as usize + 1] {
    let mut colours = [[0; 3]; SAME as usize + 1];
    colours[BACKGROUND as usize] = [255, 255, 255];
    colours[PAPER as usize] = [238, 241, 245];
    colours[INK as usize] = [31, 41, 55];
    colours[FAINT as usize] = [107, 114, 128];
    // Blue and orange of Okabe and Ito, which people with any kind of colour vision tell apart; darker is more.
    let mut shade = 0;
    while shade < SHADES {
        colours[(READS + shade) as usize] = between([158, 205, 235], [0, 58, 112], shade);
        colours[(WRITES + shade) as usize] = between([250, 200, 150], [163, 58, 0], shade);
        shade += 1;
    }
    colours
}

const fn between(light: [u8; 3], dark: [u8; 3], shade: u8) -> [u8; 3] {
    let mut colour = [0; 3];
    let mut part = 0;
    while part < 3 {
        let (from, to) = (light[part] as i32, dark[part] as i32);
        colour[part] = (from + (to - from) * shade as i32 / (SHADES as i32 - 1)) as u8;
        part += 1;
    }
    colour
}

/// A picture whose pixels are indices into [`PALETTE`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    pub width: usize,
    pub height: usize,
    /// Row by row from the top.
    pub pixels: Vec<u8>,
}

impl Canvas {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![BACKGROUND; width * height] }
    }

    /// What is outside is not drawn.
    pub(crate) fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, colour: u8) {
        let end = (x + width).min(self.width);
        for row in y..(y + height).min(self.height) {
            if x < end {
                self.pixels[row * self.width + x..row * self.width + end].fill(colour);
            }
        }
    }
}
