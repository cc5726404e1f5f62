//! What the machine and its processes are and did: provenance, CPU, machine check.
