//! Executes a plan: blocks, order, resumption, worker processes.
