//! When a Plimsoll benchmark asks: closed loops, constant and Poisson arrivals, stages; pure and seeded.
