//! What a Plimsoll benchmark asks: operations, keys, records; pure and seeded.
