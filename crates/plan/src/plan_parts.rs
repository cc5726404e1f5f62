//! Machines, factors and combinations of a plan.

use crate::host::CONTROLLER;
use crate::{Arm, Design, EngineKind, Plan};

impl Plan {
    /// The machines that make the load of an arm, in order; `None` is the one that the program runs on. An embedded engine that keeps data gets its load where it
    /// stands.
    pub fn load_hosts_of<'a>(&'a self, arm: &'a Arm, engine: &EngineKind) -> Vec<Option<&'a str>> {
        if engine.keeps_data && engine.server.is_none() {
            return vec![arm.on.as_deref()];
        }
        if self.load_hosts.is_empty() {
            // Without a server of its own there is nothing that other machines could send load to.
            let stands = if engine.server.is_some() { None } else { arm.on.as_deref() };
            return vec![stands];
        }
        let hosts = self.load_hosts.iter();
        hosts.map(|host| (host != CONTROLLER).then_some(host.as_str())).collect()
    }

    /// Every machine that takes part, once: those that arms stand on, and those that make load.
    pub fn all_host_names(&self, engines: &[EngineKind]) -> Vec<Option<&str>> {
        let mut names = self.host_names();
        for arm in &self.arms {
            let kind = engines.iter().find(|kind| kind.name == arm.engine);
            for host in kind.map_or_else(Vec::new, |kind| self.load_hosts_of(arm, kind)) {
                if !names.contains(&host) {
                    names.push(host);
                }
            }
        }
        names
    }

    /// Every machine that arms stand on, once, in the order of the arms. `None` is the one that the program runs on.
    pub fn host_names(&self) -> Vec<Option<&str>> {
        let mut names = Vec::new();
        for Arm { on, .. } in &self.arms {
            if !names.contains(&on.as_deref()) {
                names.push(on.as_deref());
            }
        }
        names
    }
}

impl Plan {
    /// Index of the factor whose levels scouting runs choose.
    pub fn refined_factor(&self) -> Option<usize> {
        self.factors.iter().position(|one| one.refine.is_some())
    }

    /// Index of the arm with these levels, one for each factor.
    pub fn cell(&self, levels: &[u32]) -> Option<usize> {
        self.arms.iter().position(|arm| arm.levels == levels)
    }

    /// Index of the factor whose levels are compared: the one that the file names, or the first.
    pub fn compared_factor(&self) -> Option<usize> {
        if self.factors.is_empty() {
            return None;
        }
        let named = self.compare.factor.as_ref();
        let place = named.and_then(|name| self.factors.iter().position(|one| one.name == *name));
        Some(place.unwrap_or(0))
    }

    /// The combinations of levels of all factors but `apart`, in the order in which arms have them; each with 0 in the places of `apart`.
    pub fn conditions(&self, apart: &[usize]) -> Vec<Vec<u32>> {
        let mut conditions: Vec<Vec<u32>> = Vec::new();
        for arm in &self.arms {
            let mut levels = arm.levels.clone();
            for factor in apart {
                if let Some(level) = levels.get_mut(*factor) {
                    *level = 0;
                }
            }
            if !conditions.contains(&levels) {
                conditions.push(levels);
            }
        }
        conditions
    }

    /// The levels of a condition in words, without the factors `apart`: `92%, ext4`.
    pub fn condition_in_words(&self, levels: &[u32], apart: &[usize]) -> String {
        let mut words = Vec::new();
        for (index, (factor, level)) in self.factors.iter().zip(levels).enumerate() {
            if !apart.contains(&index) {
                words.push(factor.level(*level));
            }
        }
        words.join(", ")
    }

    /// Which effects of a two-level design cannot be distinguished, each group as names joined by `×`, for the main effects and interactions of two
    /// factors. Empty where all combinations are measured.
    pub fn aliases(&self) -> Vec<Vec<String>> {
        if self.design != Design::Fraction {
            return Vec::new();
        }
        let sign = |arm: &Arm, factor: usize| match arm.levels.get(factor) {
            Some(1) => 1i8,
            _ => -1,
        };
        let mut effects: Vec<(String, Vec<i8>)> = Vec::new();
        for (index, factor) in self.factors.iter().enumerate() {
            let column = self.arms.iter().map(|arm| sign(arm, index)).collect();
            effects.push((factor.name.clone(), column));
        }
        for (first, one) in self.factors.iter().enumerate() {
            for (second, other) in self.factors.iter().enumerate().skip(first + 1) {
                let product = |arm| sign(arm, first) * sign(arm, second);
                let column = self.arms.iter().map(product).collect();
                effects.push((format!("{}×{}", one.name, other.name), column));
            }
        }
        let mut groups: Vec<(Vec<i8>, Vec<String>)> = Vec::new();
        for (name, column) in effects {
            let opposite: Vec<i8> = column.iter().map(|sign| -sign).collect();
            match groups.iter_mut().find(|(known, _)| *known == column || *known == opposite) {
                Some((_, names)) => names.push(name),
                None => groups.push((column, vec![name])),
            }
        }
        let groups = groups.into_iter().map(|(_, names)| names);
        groups.filter(|names| names.len() > 1).collect()
    }
}
