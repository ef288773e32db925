//! The pin on the threads of this process: who follows, who is left alone, and the way back.
//!
//! One test at a time, because a process has one set of threads.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use neuronx_mem_numa::{CpuId, CpuSet, NumaError, Pin};
use rustix::thread::{CpuSet as Bits, Pid, gettid, sched_getaffinity, sched_setaffinity};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What the system says, past the crate.
fn affinity(tid: Pid) -> Vec<usize> {
    let bits = sched_getaffinity(Some(tid)).unwrap();
    (0..Bits::MAX_CPU).filter(|cpu| bits.is_set(*cpu)).collect()
}

fn bind(tid: Pid, cpu: usize) {
    let mut bits = Bits::new();
    bits.set(cpu);
    sched_setaffinity(Some(tid), &bits).unwrap();
}

fn main_thread() -> Pid {
    rustix::process::getpid()
}

/// A thread that waits until it is told to end, or to start another one.
struct Worker {
    tid: Pid,
    orders: Sender<Order>,
    handle: JoinHandle<()>,
}

enum Order {
    StartAnother(Sender<Worker>),
    End,
}

impl Worker {
    fn start() -> Self {
        let (orders, received) = mpsc::channel();
        let (tell, told) = mpsc::channel();
        let handle = thread::spawn(move || Self::work(&tell, &received));
        Self { tid: told.recv().unwrap(), orders, handle }
    }

    fn work(tell: &Sender<Pid>, orders: &Receiver<Order>) {
        tell.send(gettid()).unwrap();
        while let Ok(Order::StartAnother(answer)) = orders.recv() {
            answer.send(Self::start()).unwrap();
        }
    }

    fn start_another(&self) -> Self {
        let (answer, answered) = mpsc::channel();
        self.orders.send(Order::StartAnother(answer)).unwrap();
        answered.recv().unwrap()
    }

    fn end(self) {
        self.orders.send(Order::End).unwrap();
        self.handle.join().unwrap();
    }
}

/// The first allowed CPU, as a set of this crate, and a CPU for a thread with a mind of its own: another
/// one where there is one.
fn cpus() -> (usize, CpuSet, usize) {
    let allowed = affinity(main_thread());
    let first = allowed[0];
    let set: CpuSet = first.to_string().parse().unwrap();
    (first, set, *allowed.last().unwrap())
}

#[test]
fn eight_threads_follow_one_stays_and_undo_restores() {
    let _alone = alone();
    let before = affinity(main_thread());
    let (cpu, target, other) = cpus();
    let workers: Vec<Worker> = (0..8).map(|_| Worker::start()).collect();
    let stubborn = Worker::start();
    bind(stubborn.tid, other);

    let pin = Pin::apply(&target).unwrap();
    assert_eq!(affinity(main_thread()), [cpu]);
    assert_eq!(affinity(gettid()), [cpu]);
    for worker in &workers {
        assert_eq!(affinity(worker.tid), [cpu]);
    }
    assert_eq!(affinity(stubborn.tid), [other]);
    assert_eq!((pin.cpus(), pin.n_refused()), (&target, 0));
    // With one CPU there is nothing to change, and nobody can differ.
    let is_change = before.len() > 1;
    assert_eq!(pin.n_left_alone(), usize::from(is_change && other != cpu));
    assert!(!is_change || pin.n_bound() >= 10, "eight workers, this thread and the main one");

    let late = workers[0].start_another();
    assert_eq!(affinity(late.tid), [cpu]);

    let report = pin.undo().unwrap();
    for tid in workers.iter().map(|worker| worker.tid).chain([main_thread(), gettid(), late.tid]) {
        assert_eq!(affinity(tid), before);
    }
    assert_eq!(affinity(stubborn.tid), [other]);
    assert!(!is_change || report.n_restored >= 11, "{report:?}");
    assert_eq!((report.n_left_alone, report.n_refused), (0, 0));
    workers.into_iter().chain([stubborn, late]).for_each(Worker::end);
}

#[test]
fn a_second_pin_changes_nothing_and_undoes_nothing() {
    let _alone = alone();
    let before = affinity(main_thread());
    let (cpu, target, _) = cpus();
    let worker = Worker::start();
    let first = Pin::apply(&target).unwrap();
    let second = Pin::apply(&target).unwrap();
    assert_eq!((second.n_bound(), second.original()), (0, &target));
    assert_eq!(second.undo().unwrap().n_restored, 0);
    assert_eq!(affinity(worker.tid), [cpu]);
    let _ = first.undo().unwrap();
    assert_eq!((affinity(worker.tid), affinity(main_thread())), (before.clone(), before));
    worker.end();
}

#[test]
fn threads_that_had_the_cpus_before_keep_them() {
    let _alone = alone();
    let (cpu, target, _) = cpus();
    let worker = Worker::start();
    bind(worker.tid, cpu);
    let pin = Pin::apply(&target).unwrap();
    let _ = pin.undo().unwrap();
    assert_eq!(affinity(worker.tid), [cpu]);
    worker.end();
}

#[test]
fn threads_that_change_their_mind_keep_what_they_chose() {
    let _alone = alone();
    let (cpu, target, other) = cpus();
    let worker = Worker::start();
    let pin = Pin::apply(&target).unwrap();
    bind(worker.tid, other);
    let report = pin.undo().unwrap();
    if cpu != other {
        assert_eq!((affinity(worker.tid), report.n_left_alone), (vec![other], 1));
    }
    worker.end();
}

#[test]
fn threads_that_come_and_go_are_no_trouble() {
    let _alone = alone();
    let before = affinity(main_thread());
    let (_, target, _) = cpus();
    let (stop, stopped) = mpsc::channel::<()>();
    let churn = thread::spawn(move || {
        while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
            thread::spawn(|| {}).join().unwrap();
        }
    });
    for _ in 0..20 {
        let report = Pin::apply(&target).unwrap().undo().unwrap();
        assert_eq!(report.n_refused, 0);
    }
    stop.send(()).unwrap();
    churn.join().unwrap();
    assert_eq!(affinity(main_thread()), before);
}

#[test]
fn what_cannot_be_bound_changes_nothing() {
    let _alone = alone();
    let before = affinity(main_thread());
    assert!(matches!(Pin::apply(&CpuSet::new()), Err(NumaError::NoCpus)));
    let far: CpuSet = "4000".parse().unwrap();
    assert_eq!(
        Pin::apply(&far).unwrap_err().to_string(),
        "cpu 4000 is beyond the 1024 that sched_setaffinity takes here"
    );
    // A CPU that this machine cannot have online together with all others.
    let absent: CpuSet = [1023]
        .into_iter()
        .map(|number: u32| number.to_string().parse::<CpuSet>().unwrap().first().unwrap())
        .collect();
    assert_eq!(absent.first().map(CpuId::get), Some(1023));
    if !before.contains(&1023) {
        assert!(matches!(Pin::apply(&absent), Err(NumaError::Affinity { .. })));
    }
    assert_eq!(affinity(main_thread()), before);
}
