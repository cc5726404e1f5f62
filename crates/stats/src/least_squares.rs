//! Weighted least squares with a handful of parameters: what the scalability fit needs, and no more.

/// Solves the linear system `matrix`·x = `right` of up to three unknowns by elimination with pivoting; `None` where it is singular.
pub(crate) fn solve<const N: usize>(
    mut matrix: [[f64; N]; N],
    mut right: [f64; N],
) -> Option<[f64; N]> {
    for column in 0..N {
        let mut pivot = column;
        for row in column + 1..N {
            if matrix[row][column].abs() > matrix[pivot][column].abs() {
                pivot = row;
            }
        }
        if !matrix[pivot][column].is_normal() {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..N {
            let pivot_row = matrix[column];
            let factor = matrix[row][column] / pivot_row[column];
            for (value, above) in matrix[row].iter_mut().zip(pivot_row) {
                *value -= factor * above;
            }
            right[row] -= factor * right[column];
        }
    }
    let mut solution = [0.0; N];
    for row in (0..N).rev() {
        let mut rest = right[row];
        for column in row + 1..N {
            rest -= matrix[row][column] * solution[column];
        }
        solution[row] = rest / matrix[row][row];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_system_is_solved_whatever_the_order_of_its_rows() {
        let rows = [([0.0, 2.0, 1.0], 7.0), ([1.0, 1.0, 1.0], 6.0), ([2.0, -1.0, 3.0], 9.0)];
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let matrix = order.map(|row| rows[row].0);
            let right = order.map(|row| rows[row].1);
            let solution = solve(matrix, right).unwrap();
            for (value, expected) in solution.iter().zip([1.0, 2.0, 3.0]) {
                assert!((value - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_singular_system_has_no_solution() {
        assert_eq!(solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 2.0]), None);
        assert_eq!(solve([[f64::NAN, 2.0], [2.0, 4.0]], [1.0, 2.0]), None);
    }
}
