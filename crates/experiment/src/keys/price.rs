//! `price`: what an arm costs.

use crate::table::*;

object! {
    PRICE price: "A price. Beside a machine, what is not given is that of the machine."
    per_hour = Shape::number(0.0, 1e9), Optional, "0.07";
        "For one hour.";
    currency = Shape::Text { most: 40 }, Optional, "USD";
        "Three letters.";
    source = Shape::Text { most: 500 }, Optional, "aws.amazon.com/ec2/pricing, us-east-1, on demand";
        "Where it was read.";
    date = Shape::Text { most: 40 }, Optional, "2014-09";
        "When it was read: a year, a month or a day.";
}
