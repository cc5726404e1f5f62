//! `price`: what an arm costs.

use crate::table::*;

object! {
    PRICE price: "A price. Beside a machine, missing values are those of the machine."
    per_hour = Shape::number(0.0, 1e9), Optional, "0.07";
        "Price of one hour.";
    currency = Shape::Text { most: 40 }, Optional, "USD";
        "Three letters.";
    source = Shape::Text { most: 500 }, Optional, "aws.amazon.com/ec2/pricing, us-east-1, on demand";
        "Where the price was read.";
    date = Shape::Text { most: 40 }, Optional, "2014-09";
        "When the price was read: a year, a month or a day.";
}
