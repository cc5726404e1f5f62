use super::*;
use crate::{Options, read};

fn output(threads: u32, workload: &str, reads: u64) -> Measured {
    let text = format!(
        "Command line: -P {workload} -threads {threads} -t\n[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), {reads}.0\n\
         [READ], Operations, {reads}\n[READ], AverageLatency(us), 10.0\n[READ], 99thPercentileLatency(us), 90\n[READ], Return=OK, {reads}\n"
    );
    let outputs = read("o.txt", text.as_bytes(), &Options::default());
    outputs.unwrap().remove(0)
}

fn arm(name: &str, outputs: Vec<Measured>) -> Arm {
    Arm { name: name.into(), outputs }
}

#[test]
fn outputs_at_one_load_are_blocks_and_at_others_points() {
    let of_a =
        vec![output(4, "c", 100), output(1, "c", 50), output(4, "c", 101), output(1, "d", 7)];
    let arms = vec![arm("a", of_a), arm("b", vec![output(4, "c", 99)])];
    let record = record(&Frame::default(), arms).unwrap();
    let plan: Plan = serde_json::from_value(record.plan.clone()).unwrap();
    let mixes: Vec<&str> = plan.mixes.iter().map(|mix| mix.name.as_str()).collect();
    assert_eq!(mixes, ["c", "d"]);
    let loads = plan.points.iter().map(|point| point.load.to_string());
    assert!(loads.eq(["1 thread", "4 threads", "1 thread"]));
    assert_eq!(plan.measurement.blocks, 2);
    let runs = record.runs.iter().map(|run| {
        let points = run.points.iter().filter_map(|point| point.label.point);
        (run.block, run.arm.as_str(), points.collect::<Vec<_>>())
    });
    assert!(runs.eq([(0, "a", vec![0, 1, 2]), (0, "b", vec![1]), (1, "a", vec![1])]));
    assert_eq!(plan.runs.len(), record.runs.len());
}

#[test]
fn what_the_user_says_wins() {
    let frame = Frame { mix: Some("mine".into()), sessions: Some(9), ..Frame::default() };
    let record = record(&frame, vec![arm("a", vec![output(4, "c", 100)])]).unwrap();
    let label = &record.runs[0].points[0].label;
    assert_eq!(label.mix.as_str(), "mine");
    assert_eq!(label.load_label.as_str(), "9 threads");
}

#[test]
fn a_workload_without_a_name_is_called_by_what_it_consists_of() {
    let text = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 100.0\n\
        [READ], Operations, 95\n[READ], Return=OK, 95\n[UPDATE], Operations, 5\n[UPDATE], Return=OK, 5\n";
    let outputs = read("o.txt", text.as_bytes(), &Options::default()).unwrap();
    let record = record(&Frame::default(), vec![arm("a", outputs)]).unwrap();
    let label = &record.runs[0].points[0].label;
    assert_eq!(label.mix, "95 % read, 5 % update");
    assert_eq!(label.load_label, "threads not known");
}

#[test]
fn damaged_outputs_are_cut_short() {
    let mut damaged = output(4, "c", 100);
    damaged.damage.push("half of it is missing".into());
    let record = record(&Frame::default(), vec![arm("a", vec![damaged])]).unwrap();
    assert!(record.runs[0].points[0].end.as_ref().unwrap().cut_short);
    assert_eq!(record.runs[0].warnings[0].id, WarningId::ImportDamaged);
}

#[test]
fn nothing_and_namesakes_are_refused() {
    assert!(record(&Frame::default(), vec![]).is_err());
    assert!(record(&Frame::default(), vec![arm("a", vec![])]).is_err());
    let twice = vec![arm("a", vec![output(1, "c", 5)]), arm("a", vec![output(1, "c", 5)])];
    assert!(record(&Frame::default(), twice).is_err());
}
