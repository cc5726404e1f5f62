//! Experiments with factors: the figure over an axis, the matrix of cells with what limits each, and the effects.

use super::{NAME, Page};
use crate::factors::{self, Layout};
use crate::page::chart::{ArmStyle, CellPoint, CellQuantity, FactorChart, ForestScale, LevelLine};
use crate::page::prose;
use crate::{select, text, words};
use maud::{Markup, html};
use plimsoll_judge::{
    Analysis, CurvePoint, Dependence, Effect, EffectPlace, FactorResults, Figures,
};
use plimsoll_plan::Design;
use plimsoll_record::quantities::numbers::PAGE;

/// Panels of one quantity; the matrix and the tables have all cells.
const PANELS: usize = 6;
const LINES: usize = 16;
/// Figures below throughput and p99, where they are known: they show how a cache or a disk became the limit.
const FIGURES: [&str; 2] = ["engine_read_bytes_per_second", "page_cache_hit_ratio"];
/// Rows of the table of effects.
const EFFECTS: usize = 120;

pub(super) fn is_known(analysis: &Analysis) -> bool {
    analysis.factors.is_some()
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.report.analysis;
    let Some(results) = &analysis.factors else {
        return html! {};
    };
    let places = factors::places(results);
    let layout = Layout::of(results);
    html! {
        (legend_of_factors(results))
        @if let Some(layout) = &layout {
            @for (number, place) in places.iter().take(page.budget.mixes).enumerate() {
                figure.mix {
                    figcaption {
                        h3 { "Mix " (text::short(&place.mix, 80)) ", " (prose::label(&place.load_label, NAME)) }
                        (legend(results, layout))
                    }
                    (pictures(page, results, layout, place, number))
                    (answers(analysis, results, place))
                    (matrices(page, results, layout, place))
                }
            }
        }
        @if !results.dependences.is_empty() { (dependences(results)) }
        (effects(analysis, results))
    }
}

/// Which factors there are, with their levels.
fn legend_of_factors(results: &FactorResults) -> Markup {
    let cells = PAGE.count(results.cells.len() as u64);
    html! {
        p.lead {
            (cells) " cells: "
            @for (number, factor) in results.factors.iter().enumerate() {
                @if number > 0 { "; " }
                strong { (text::short(&factor.name, NAME)) } " "
                @if factor.levels.len() <= 8 {
                    (factor.levels.iter().map(|level| text::short(&level.name, 24)).collect::<Vec<_>>().join(", "))
                } @else { (PAGE.count(factor.levels.len() as u64)) " levels" }
            }
            "."
            @match results.design {
                Design::Full => {}
                Design::Screening => " A screening design: each block measures half of these cells, the next block their mirror images. Main effects are clear of each other and of interactions of two factors.",
                Design::Fraction => " A fraction of all combinations.",
            }
        }
        @if let Some(scouting) = &results.scouting { p.remark { (prose::prose(scouting)) } }
        @if !results.aliases.is_empty() {
            p.remark { "Cannot be distinguished: " (results.aliases.iter().map(|group| group.join(" = ")).collect::<Vec<_>>().join("; ")) "." }
        }
    }
}

fn line_name(results: &FactorResults, layout: &Layout, level: u32) -> String {
    match layout.lines {
        Some(factor) => results.factors[factor].level(level).to_owned(),
        None => "all".to_owned(),
    }
}

fn legend(results: &FactorResults, layout: &Layout) -> Markup {
    html! {
        @if layout.lines.is_some() {
            ul.legend {
                @for (place, level) in layout.line_levels(results).into_iter().take(LINES).enumerate() {
                    li { span.arm { (ArmStyle::at(place).swatch()) (text::short(&line_name(results, layout, level), NAME)) } }
                }
            }
        }
    }
}

/// What every cell of a panel measured: a line for each level, with the points along.
fn lines<'a>(
    page: &Page<'a>,
    results: &'a FactorResults,
    layout: &Layout,
    panel: &[u32],
    place: &EffectPlace,
) -> Vec<LevelLine<'a>> {
    let analysis = page.report.analysis;
    let along = layout.along_levels(results);
    let line = |(number, level): (usize, u32)| LevelLine {
        name: line_name(results, layout, level),
        style: ArmStyle::at(number),
        points: along
            .iter()
            .map(|along| {
                let cell = layout.cell(results, panel, level, *along)?;
                let cost = analysis.costs.iter().find(|cost| cost.arm == cell.arm);
                Some(CellPoint {
                    point: factors::point(analysis, cell, place)?,
                    per_hour: cost.map(|cost| cost.per_hour),
                })
            })
            .collect(),
    };
    layout.line_levels(results).into_iter().enumerate().take(LINES).map(line).collect()
}

fn pictures(
    page: &Page<'_>,
    results: &FactorResults,
    layout: &Layout,
    place: &EffectPlace,
    number: usize,
) -> Markup {
    let factor = &results.factors[layout.along];
    let levels = layout.along_levels(results);
    let names: Vec<String> = levels.iter().map(|level| factor.level(*level).to_owned()).collect();
    let amounts = factor
        .axis()
        .map(|amounts| levels.iter().map(|level| amounts[*level as usize]).collect::<Vec<f64>>());
    let group = format!("factors-{number}");
    let mut quantities = vec![CellQuantity::Throughput, CellQuantity::ResponseP99];
    for name in FIGURES {
        quantities.extend(
            Figures::ALL.iter().position(|kind| kind.name == name).map(CellQuantity::Figure),
        );
    }
    quantities.extend(currency(page.report.analysis).map(CellQuantity::Cost));
    let mut drawn = Vec::new();
    for (of_panel, panel) in layout.panels.iter().take(PANELS).enumerate() {
        for (of_quantity, quantity) in quantities.iter().enumerate() {
            let chart = FactorChart {
                id: format!("{group}-{of_panel}-{of_quantity}"),
                group: &group,
                title: layout.panel_in_words(results, panel),
                along: &factor.name,
                levels: names.clone(),
                amounts: amounts.clone(),
                lines: lines(page, results, layout, panel, place),
                quantity: *quantity,
            };
            // A kind of figure without a cell is left out.
            let is_described = match quantity {
                CellQuantity::Figure(_) => chart
                    .lines
                    .iter()
                    .flat_map(|line| &line.points)
                    .flatten()
                    .filter_map(|point| quantity.of(*point))
                    .any(|(value, _)| value > 0.0),
                _ => true,
            };
            if chart.is_known() && is_described {
                drawn.push((chart.title.clone(), *quantity, chart.draw()));
            }
        }
    }
    html! {
        div.pair {
            @for (title, quantity, drawing) in &drawn {
                div {
                    p.table-title { (quantity.name()) (quantity.per()) @if !title.is_empty() { ", " (text::short(title, 80)) } }
                    (drawing)
                }
            }
        }
        @if layout.panels.len() > PANELS {
            p.remark { "Drawn: the first " (PANELS) " of " (layout.panels.len()) " combinations of the other factors; the tables have all." }
        }
    }
}

/// The currency of all prices, if it is one.
fn currency(analysis: &Analysis) -> Option<&str> {
    let first = analysis.costs.first()?.currency.as_str();
    let is_same = analysis.costs.iter().all(|cost| cost.currency == first);
    is_same.then_some(first)
}

/// Cliffs and crossings of a place.
fn answers(analysis: &Analysis, results: &FactorResults, place: &EffectPlace) -> Markup {
    let is_here = |of: &EffectPlace| of.mix == place.mix && of.point == place.point;
    let crossings =
        results.crossings.iter().filter(|one| is_here(&one.place)).map(|one| &one.sentence);
    let cliffs = results.cliffs.iter().filter(|one| is_here(&one.place)).map(|one| &one.sentence);
    let sentences: Vec<&String> = crossings.chain(cliffs).collect();
    html! {
        @if !sentences.is_empty() {
            ul.knees { @for sentence in sentences { li { (prose::prose(&select::with_short_names(analysis, sentence))) } } }
        }
    }
}

/// A table for each panel: every cell with its throughput and what limits it.
fn matrices(
    page: &Page<'_>,
    results: &FactorResults,
    layout: &Layout,
    place: &EffectPlace,
) -> Markup {
    let along = layout.along_levels(results);
    let lines = layout.line_levels(results);
    let factor = &results.factors[layout.along];
    let rows = page.budget.arm_rows / along.len().max(1);
    let shown = (rows * 2 / lines.len().max(1)).max(1);
    html! {
        @for panel in layout.panels.iter().take(shown) {
            @let title = layout.panel_in_words(results, panel);
            p.table-title {
                "Operations per second and bottleneck of each cell"
                @if !title.is_empty() { ", " (text::short(&title, 80)) }
            }
            div.scroll tabindex="0" role="region" aria-label="Matrix of cells" {
                table.data.cells {
                    thead { tr {
                        th scope="col" { (text::short(layout.lines.map_or("", |lines| results.factors[lines].name.as_str()), NAME)) small { "by " (text::short(&factor.name, NAME)) } }
                        @for level in &along { th.num scope="col" { (text::short(factor.level(*level), 24)) } }
                    } }
                    tbody {
                        @for level in &lines {
                            tr {
                                th scope="row" { (text::short(&line_name(results, layout, *level), NAME)) }
                                @for column in &along {
                                    @match layout.cell(results, panel, *level, *column) {
                                        Some(cell) => td.num { (value(factors::point(page.report.analysis, cell, place))) },
                                        None => td.num.quiet { "left out" },
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if layout.panels.len() > shown { p.remark { "Shown: " (shown) " of " (layout.panels.len()) " tables; all cells are in points.csv." } }
    }
}

fn value(point: Option<&CurvePoint>) -> Markup {
    let throughput =
        point.filter(|point| point.valid_runs > 0).and_then(|point| point.throughput.median);
    html! {
        @match throughput {
            Some(throughput) => (PAGE.rate(throughput)),
            None => (PAGE.nothing()),
        }
        @if let Some(cause) = point.and_then(|point| point.cause.as_ref()) { small.limit title=(prose::prose(&cause.sentence)) { (cause.kind.name()) } }
    }
}

/// Proven interactions: the effect of one factor at each level of another.
fn dependences(results: &FactorResults) -> Markup {
    html! {
        h3 { "What depends on what" }
        @for one in &results.dependences { (dependence(one)) }
    }
}

fn dependence(one: &Dependence) -> Markup {
    let verdict = |at: &plimsoll_judge::EffectAt| plimsoll_judge::Verdict {
        judgement: plimsoll_judge::Judgement::Inconclusive,
        reason: None,
        estimate: at.estimate,
        interval: at.interval,
        confidence: None,
        p_value: None,
        p_holm: None,
        smallest_visible: None,
        blocks: 0,
        margin: 0.0,
    };
    let verdicts: Vec<_> = one.at.iter().map(verdict).collect();
    let scale = ForestScale::of_verdicts(verdicts.iter());
    html! {
        p { (prose::prose(&one.sentence)) }
        div.scroll tabindex="0" role="region" aria-label="Effect by level" {
            table.comparisons.effects {
                thead { tr {
                    th scope="col" { (text::short(&one.on, NAME)) }
                    th.picture scope="col" { (text::short(&one.change.level, NAME)) " against " (text::short(&one.change.baseline, NAME)) }
                    th.num scope="col" { "Difference" small { "and its interval" } }
                } }
                tbody {
                    tr.mix { td.blank {} td.picture { (scale.axis()) } td.blank {} }
                    @for (at, verdict) in one.at.iter().zip(&verdicts) {
                        tr {
                            th scope="row" { (text::short(&at.level, NAME)) }
                            td.picture { (scale.row(verdict)) }
                            td.num { (super::difference(verdict)) }
                        }
                    }
                }
            }
        }
    }
}

/// Every effect, those that are proven first.
fn effects(analysis: &Analysis, results: &FactorResults) -> Markup {
    let all = factors::by_size(results);
    if all.is_empty() {
        return html! {};
    }
    let scale = ForestScale::of_verdicts(all.iter().map(|effect| &effect.verdict));
    html! {
        h3 { "Effects" }
        p.lead {
            "Each is a contrast of cells with one value in each block. All effects on a mix are judged together: p is corrected by sign flips of whole blocks, whatever their number. "
            "Proven effects come first, the largest at the top."
        }
        div.scroll tabindex="0" role="region" aria-label="Table of effects" {
            table.comparisons.effects {
                thead { tr {
                    th scope="col" { "Effect" }
                    th.picture scope="col" { "Difference" small { "drawn on a scale of ratios" } }
                    th.num scope="col" { "Difference" small { "and its interval" } }
                    th scope="col" { "Verdict" }
                } }
                tbody {
                    tr.mix { td.blank {} td.picture { (scale.axis()) } td.blank colspan="2" {} }
                    @for effect in all.iter().take(EFFECTS) { (row(effect, scale)) }
                }
            }
        }
        @if all.len() > EFFECTS { p.remark { "Shown: " (EFFECTS) " of " (PAGE.count(all.len() as u64)) " effects; all are in analysis.json." } }
        @if analysis.comparisons.iter().any(|one| one.primary) { p.remark { "Simple effects stand as comparisons of cells in the " a href="#comparisons" { "table" } " as well." } }
    }
}

fn row(effect: &Effect, scale: ForestScale) -> Markup {
    html! {
        tr class=(words::judgement(effect.verdict.judgement)) {
            th scope="row" {
                (text::short(&factors::name(effect), 120))
                small {
                    (factors::kind(effect.kind)) ", " (text::short(&effect.place.mix, NAME)) ", " (words::metric(effect.place.metric))
                    @if !effect.depends_on.is_empty() { "; an average only: it depends on " (effect.depends_on.join(", ")) }
                }
            }
            td.picture { (scale.row(&effect.verdict)) }
            td.num { (super::difference(&effect.verdict)) }
            td {
                (super::judged(effect.verdict.judgement))
                @if let Some(p) = effect.verdict.p_holm { small.p { "p " (PAGE.significant(p, 2)) } }
                @if let Some(reason) = &effect.verdict.reason { small { (prose::prose(reason)) } }
            }
        }
    }
}
