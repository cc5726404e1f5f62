//! As much SVG as these pictures need.

use std::fmt::Write;

pub const INK: &str = "#222222";
pub const MAIN: &str = "#0072b2";
pub const ACCENT: &str = "#c04a00";
pub const FAINT: &str = "#b8b8b8";

/// Which end of a text its position means.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

pub struct Picture {
    body: String,
}

impl Picture {
    pub fn new(width: f64, height: f64, title: &str) -> Picture {
        let body = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"system-ui, sans-serif\" font-size=\"13\" role=\"img\">\n<title>{title}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        Picture { body }
    }

    pub fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, colour: &str, width: f64) {
        self.add(format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        ));
    }

    pub fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str) {
        self.add(format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
        ));
    }

    pub fn dot(&mut self, x: f64, y: f64, radius: f64, colour: &str) {
        self.add(format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>"
        ));
    }

    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, colour: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.add(format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>"));
    }

    pub fn small(&mut self, x: f64, y: f64, text: &str) {
        self.add(format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"11\" fill=\"#6b6b6b\">{text}</text>"
        ));
    }

    pub fn finish(mut self) -> String {
        self.body.push_str("</svg>\n");
        self.body
    }

    fn add(&mut self, element: String) {
        self.body.push_str(&element);
        self.body.push('\n');
    }
}

/// Axes of a picture of 640 × 280.
pub struct Plot {
    x: (f64, f64),
    y: (f64, f64),
}

impl Plot {
    const LEFT: f64 = 70.0;
    const RIGHT: f64 = 620.0;
    const TOP: f64 = 34.0;
    const BOTTOM: f64 = 234.0;

    pub fn new(x: (f64, f64), y: (f64, f64)) -> Plot {
        Plot { x, y }
    }

    /// Place of a value in the picture.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let along = (x - self.x.0) / (self.x.1 - self.x.0);
        let up = (y - self.y.0) / (self.y.1 - self.y.0);
        (
            Self::LEFT + along * (Self::RIGHT - Self::LEFT),
            Self::BOTTOM - up * (Self::BOTTOM - Self::TOP),
        )
    }

    pub fn axes(&self, picture: &mut Picture, x: &[f64], y: &[f64], x_name: &str, y_name: &str) {
        for &value in y {
            let (_, height) = self.at(0.0, value);
            picture.line(Self::LEFT, height, Self::RIGHT, height, "#e2e2e2", 1.0);
            picture.text(
                Self::LEFT - 8.0,
                height + 4.0,
                Anchor::End,
                INK,
                &thousands(value),
            );
        }
        for &value in x {
            let (along, _) = self.at(value, 0.0);
            picture.line(along, Self::BOTTOM, along, Self::BOTTOM + 5.0, INK, 1.0);
            picture.text(
                along,
                Self::BOTTOM + 19.0,
                Anchor::Middle,
                INK,
                &thousands(value),
            );
        }
        picture.line(
            Self::LEFT,
            Self::BOTTOM,
            Self::RIGHT,
            Self::BOTTOM,
            INK,
            1.0,
        );
        picture.text(
            (Self::LEFT + Self::RIGHT) / 2.0,
            Self::BOTTOM + 38.0,
            Anchor::Middle,
            INK,
            x_name,
        );
        picture.text(14.0, 20.0, Anchor::Start, INK, y_name);
    }

    pub fn curve(
        &self,
        picture: &mut Picture,
        points: impl Iterator<Item = (f64, f64)>,
        colour: &str,
    ) {
        let mut path = String::new();
        for (x, y) in points {
            let (x, y) = self.at(x, y);
            write!(path, "{x:.1},{y:.1} ").expect("writing to a string cannot fail");
        }
        let path = path.trim_end();
        picture.add(format!(
            "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        ));
    }
}

fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    if digits.len() <= 3 {
        return digits;
    }
    let (front, back) = digits.split_at(digits.len() - 3);
    format!("{front},{back}")
}
