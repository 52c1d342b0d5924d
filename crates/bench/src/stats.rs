//! Whether two settings differ, by how much, and whether that can be said at all.
//!
//! The trial is the unit: one run of one arm gives one number. Trials come in blocks in which each arm runs once, in random
//! order, so that what drifts slowly touches all arms alike; arms are compared within blocks, by the ratio of their numbers.
//! Queries inside a trial are never resampled: they share the trial's luck, and an interval made of them is far too narrow.

use fastrand::Rng;

/// Resamples of an interval.
const RESAMPLES: usize = 4_000;
/// Fewer blocks give points and no interval.
pub const BLOCKS_MIN: usize = 5;
/// Two-sided.
pub const CONFIDENCE: f64 = 0.95;

/// B by A, with the interval in which the truth lies in 95 of 100 experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    pub ratio: f64,
    /// `None`: too few blocks.
    pub interval: Option<(f64, f64)>,
}

impl Ratio {
    /// Does the interval leave out 1? `None` without an interval.
    pub fn differs(&self) -> Option<bool> {
        self.interval.map(|(low, high)| low > 1.0 || high < 1.0)
    }

    /// Half of the interval's width, as a share of the ratio.
    pub fn precision(&self) -> Option<f64> {
        self.interval.map(|(low, high)| (high - low) / 2.0 / self.ratio)
    }
}

/// A number per block and arm.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Blocks {
    /// `blocks[block][arm]`
    blocks: Vec<Vec<f64>>,
}

impl Blocks {
    /// A whole block: one number for each arm, each over zero. False: it is none, and is left out.
    pub fn push(&mut self, block: Vec<f64>) -> bool {
        let arms = self.blocks.first().map_or(block.len(), Vec::len);
        let is_good = block.len() == arms
            && !block.is_empty()
            && block.iter().all(|value| value.is_finite() && *value > 0.0);
        if is_good {
            self.blocks.push(block);
        }
        is_good
    }

    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The numbers of an arm, in the order of time.
    pub fn of(&self, arm: usize) -> Vec<f64> {
        self.blocks.iter().filter_map(|block| block.get(arm).copied()).collect()
    }

    /// Compares two arms by the logarithm of their ratio within each block: a studentized bootstrap, which keeps its
    /// promise with ten blocks where the plain one does not.
    ///
    /// # Source
    /// Efron, Tibshirani: An Introduction to the Bootstrap (1993), 12.5.
    pub fn ratio(&self, a: usize, b: usize, seed: u64) -> Option<Ratio> {
        let logs: Vec<f64> =
            self.blocks.iter().filter_map(|block| Some((block.get(b)? / block.get(a)?).ln())).collect();
        let (mean, error) = mean_and_error(&logs)?;
        let ratio = mean.exp();
        if logs.len() < BLOCKS_MIN {
            return Some(Ratio { ratio, interval: None });
        }
        let (low, high) = around(&[(&logs, 1.0)], mean, error, seed);
        Some(Ratio { ratio, interval: Some((low.exp(), high.exp())) })
    }

    /// Whether an arm became faster or slower on the way, beside what chance does: its change from the first block to the
    /// last as a share, if it is more than `share_min` and chance makes that in less than one of a hundred orders.
    pub fn drift(&self, arm: usize, share_min: f64, seed: u64) -> Option<f64> {
        let values = self.of(arm);
        let (mean, _) = mean_and_error(&values)?;
        let change = |values: &[f64]| slope(values) * (values.len() as f64 - 1.0) / mean;
        let seen = change(&values);
        if values.len() < BLOCKS_MIN || seen.abs() < share_min {
            return None;
        }
        let mut random = Rng::with_seed(seed);
        let mut shuffled = values.clone();
        let times = 2_000;
        let as_much = (0..times)
            .filter(|_| {
                random.shuffle(&mut shuffled);
                change(&shuffled).abs() >= seen.abs()
            })
            .count();
        (as_much * 100 < times).then_some(seen)
    }
}

/// The second sample by the first, of trials that have nothing to do with each other: two runs of the same thing. Each sample
/// is drawn from on its own.
///
/// The interval knows what varies from trial to trial, and nothing of what changed between the runs.
pub fn ratio_of_runs(first: &[f64], second: &[f64], seed: u64) -> Option<Ratio> {
    let logs = |values: &[f64]| -> Option<Vec<f64>> {
        let all_good = values.iter().all(|value| value.is_finite() && *value > 0.0);
        (all_good && !values.is_empty()).then(|| values.iter().map(|value| value.ln()).collect())
    };
    let (first, second) = (logs(first)?, logs(second)?);
    let samples = [(second.as_slice(), 1.0), (first.as_slice(), -1.0)];
    let (mean, error) = combined(&samples)?;
    let ratio = mean.exp();
    if first.len().min(second.len()) < BLOCKS_MIN {
        return Some(Ratio { ratio, interval: None });
    }
    let (low, high) = around(&samples, mean, error, seed);
    Some(Ratio { ratio, interval: Some((low.exp(), high.exp())) })
}

/// The interval of a mean over trials; `None` of fewer than [`BLOCKS_MIN`].
pub fn mean_interval(values: &[f64], seed: u64) -> Option<(f64, f64)> {
    if values.len() < BLOCKS_MIN || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let samples = [(values, 1.0)];
    let (mean, error) = combined(&samples)?;
    Some(around(&samples, mean, error, seed))
}

/// The sum of the samples' means, each with its sign, and the standard error of that sum.
fn combined(samples: &[(&[f64], f64)]) -> Option<(f64, f64)> {
    let (mut sum, mut squares) = (0.0, 0.0);
    for (values, sign) in samples {
        let (mean, error) = mean_and_error(values)?;
        sum += sign * mean;
        squares += error * error;
    }
    Some((sum, squares.sqrt()))
}

/// A studentized bootstrap around a sum of means: each sample is drawn from on its own. Where all values are the same to the
/// last digit, both ends are that sum.
///
/// Few values drawn with return are often nearly the same one, whose spread is nearly nothing, and one such draw makes the interval as
/// wide as one likes. Below [`RESAMPLED_MIN`] it is that of Student's t, with the degrees of freedom of the smaller sample.
fn around(samples: &[(&[f64], f64)], mean: f64, error: f64, seed: u64) -> (f64, f64) {
    let fewest = samples.iter().map(|(values, _)| values.len()).min().unwrap_or_default();
    if let Some(t) = fewest.checked_sub(BLOCKS_MIN).and_then(|at| STUDENT_T.get(at)) {
        return (mean - t * error, mean + t * error);
    }
    let mut random = Rng::with_seed(seed);
    let mut drawn: Vec<Vec<f64>> = samples.iter().map(|(values, _)| vec![0.0; values.len()]).collect();
    let mut pivots = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        for (places, (values, _)) in drawn.iter_mut().zip(samples) {
            for place in places {
                *place = values.get(random.usize(0..values.len())).copied().unwrap_or_default();
            }
        }
        let again: Vec<(&[f64], f64)> =
            drawn.iter().zip(samples).map(|(values, (_, sign))| (values.as_slice(), *sign)).collect();
        if let Some((other, spread)) = combined(&again)
            && spread > 0.0
        {
            pivots.push((other - mean) / spread);
        }
    }
    let ends = (
        quantile(&mut pivots, (1.0 - CONFIDENCE) / 2.0),
        quantile(&mut pivots, f64::midpoint(1.0, CONFIDENCE)),
    );
    let (Some(low), Some(high)) = ends else { return (mean, mean) };
    (mean - high * error, mean - low * error)
}

/// From so many values on they are resampled.
pub const RESAMPLED_MIN: usize = BLOCKS_MIN + STUDENT_T.len();
/// The quantile 0.975 with 4, 5 and 6 degrees of freedom: of [`BLOCKS_MIN`] values and the next two numbers of them.
const STUDENT_T: [f64; 3] = [2.776_445, 2.570_582, 2.446_912];

/// The order in which the arms of a block run.
pub fn order(arms: usize, random: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..arms).collect();
    random.shuffle(&mut order);
    order
}

/// Mean and standard deviation (of a sample, with n - 1); `None` of nothing. One number has no deviation.
pub fn mean_and_deviation(values: &[f64]) -> Option<(f64, Option<f64>)> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt())))
}

fn mean_and_error(values: &[f64]) -> Option<(f64, f64)> {
    let (mean, deviation) = mean_and_deviation(values)?;
    Some((mean, deviation.unwrap_or_default() / (values.len() as f64).sqrt()))
}

/// Between the two numbers around it; `None` of nothing.
fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let place = share * (values.len().checked_sub(1)? as f64);
    let (below, part) = (place.floor(), place.fract());
    let at = |index: f64| values.iter().copied().nth(whole(index));
    let low = at(below)?;
    Some(low + part * (at(below + 1.0).unwrap_or(low) - low))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(number: f64) -> usize {
    number as usize
}

/// Of a straight line by least squares, per place.
fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (mut up, mut down) = (0.0, 0.0);
    for (place, value) in values.iter().enumerate() {
        let from_middle = place as f64 - middle;
        up += from_middle * (value - mean);
        down += from_middle * from_middle;
    }
    if down > 0.0 { up / down } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Normal enough: the sum of twelve uniform numbers.
    fn normal(random: &mut Rng) -> f64 {
        (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
    }

    /// Trials with this much noise each, a slow drift that all arms share, and a truth of B by A.
    fn experiment(blocks: usize, noise: f64, truth: f64, random: &mut Rng) -> Blocks {
        let mut all = Blocks::default();
        for block in 0..blocks {
            let shared = 1_000.0 * (1.0 + 0.03 * block as f64 / blocks as f64);
            let one = |mean: f64, random: &mut Rng| mean * (noise * normal(random)).exp();
            assert!(all.push(vec![one(shared, random), one(shared * truth, random)]));
        }
        all
    }

    #[test]
    fn five_blocks_have_an_interval_that_holds_and_is_not_absurd() {
        // Of a busy machine; resampled they gave -15 to +2,293 %.
        let mut blocks = Blocks::default();
        for (a, b) in [
            (12265.0, 10905.0),
            (21995.0, 19445.0),
            (12535.0, 11110.0),
            (14345.0, 17085.0),
            (15470.0, 13535.0),
        ] {
            assert!(blocks.push(vec![a, b]));
        }
        let (low, high) = blocks.ratio(0, 1, 1).and_then(|ratio| ratio.interval).expect("an interval");
        assert!(low > 0.7 && high < 1.3 && low < 1.0 && high > 1.0, "{low} {high}");
        let mut random = Rng::with_seed(11);
        let covered = (0..1000)
            .filter(|_| {
                let mut blocks = Blocks::default();
                for _ in 0..5 {
                    // The sum of twelve is as good as normal; a deviation of 5 %.
                    let noise = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
                    blocks.push(vec![1.0, (0.05 * noise).exp()]);
                }
                blocks
                    .ratio(0, 1, 1)
                    .and_then(|ratio| ratio.interval)
                    .is_some_and(|(low, high)| low <= 1.0 && 1.0 <= high)
            })
            .count();
        assert!((900..=980).contains(&covered), "{covered}");
    }

    #[test]
    fn the_interval_covers_the_truth_as_often_as_it_says() {
        let mut random = Rng::with_seed(11);
        for (blocks, truth) in [(5, 1.0), (10, 1.0), (10, 0.7), (30, 1.05)] {
            let covers = (0..1_000)
                .filter(|seed| {
                    let ratio =
                        experiment(blocks, 0.02, truth, &mut random).ratio(0, 1, *seed).expect("blocks");
                    let (low, high) = ratio.interval.expect("enough of them");
                    low <= truth && truth <= high
                })
                .count();
            assert!((900..=980).contains(&covers), "{blocks} blocks: {covers} of 1000");
        }
    }

    #[test]
    fn the_same_thing_is_not_told_apart_and_five_percent_are() {
        let mut random = Rng::with_seed(5);
        let mut claims = |truth: f64| {
            (0..20)
                .filter(|seed| {
                    experiment(10, 0.02, truth, &mut random).ratio(0, 1, *seed).expect("blocks").differs()
                        == Some(true)
                })
                .count()
        };
        let (same, slower) = (claims(1.0), claims(0.95));
        assert!(same <= 3, "{same} of 20 claim a difference of nothing");
        assert!(slower >= 18, "only {slower} of 20 find 5 %");
    }

    /// `--precision` looks after every block, from the tenth on, and stops when it likes what it sees.
    #[test]
    fn going_on_until_it_is_narrow_enough_still_covers_the_truth() {
        let mut random = Rng::with_seed(17);
        let covers = (0..300)
            .filter(|seed| {
                let all = experiment(60, 0.04, 1.0, &mut random);
                let mut seen = Blocks::default();
                for (number, block) in all.blocks.iter().enumerate() {
                    assert!(seen.push(block.clone()));
                    if number + 1 >= 10 {
                        let ratio = seen.ratio(0, 1, *seed).expect("blocks");
                        if ratio.precision().is_some_and(|precision| precision <= 0.025) {
                            let (low, high) = ratio.interval.expect("enough of them");
                            return low <= 1.0 && 1.0 <= high;
                        }
                    }
                }
                panic!("sixty blocks are enough at this noise");
            })
            .count();
        assert!((270..=294).contains(&covers), "{covers} of 300");
    }

    /// What somebody does who takes queries for trials: each trial's luck counts a hundred times.
    #[test]
    fn queries_taken_for_trials_make_an_interval_that_lies() {
        let mut random = Rng::with_seed(3);
        let covers = (0..200)
            .filter(|seed| {
                let trials = experiment(5, 0.02, 1.0, &mut random);
                let mut queries = Blocks::default();
                for block in &trials.blocks {
                    for _ in 0..100 {
                        let one = |mean: f64, random: &mut Rng| mean * (0.001 * normal(random)).exp();
                        queries.push(block.iter().map(|mean| one(*mean, &mut random)).collect());
                    }
                }
                let (low, high) = queries.ratio(0, 1, *seed).expect("blocks").interval.expect("many");
                low <= 1.0 && 1.0 <= high
            })
            .count();
        assert!(covers < 100, "{covers} of 200: this test cannot tell the two apart");
    }

    #[test]
    fn few_blocks_give_a_point_and_no_interval() {
        let mut blocks = Blocks::default();
        assert_eq!(blocks.ratio(0, 1, 1), None);
        for _ in 0..BLOCKS_MIN - 1 {
            assert!(blocks.push(vec![2.0, 1.0]));
        }
        let ratio = blocks.ratio(0, 1, 1).expect("blocks");
        assert!((ratio.ratio - 0.5).abs() < 1e-9 && ratio.interval.is_none() && ratio.differs().is_none());
        assert!(blocks.push(vec![2.0, 1.0]));
        assert_eq!(blocks.ratio(0, 1, 1).expect("blocks").differs(), Some(true));
        for bad in [vec![1.0], vec![0.0, 1.0], vec![f64::NAN, 1.0], vec![]] {
            assert!(!blocks.push(bad));
        }
        assert_eq!(blocks.len(), BLOCKS_MIN);
    }

    /// Trials of one run: the same noise, and nothing else shared.
    fn trials(count: usize, mean: f64, noise: f64, random: &mut Rng) -> Vec<f64> {
        (0..count).map(|_| mean * (noise * normal(random)).exp()).collect()
    }

    #[test]
    fn the_interval_between_two_runs_covers_the_truth_as_often_as_it_says() {
        let mut random = Rng::with_seed(17);
        // As many trials or not, as noisy or not.
        for (counts, noises, truth) in
            [((5, 5), (0.02, 0.02), 1.0), ((10, 10), (0.02, 0.02), 0.8), ((10, 20), (0.03, 0.01), 1.0)]
        {
            let covers = (0..1_000)
                .filter(|seed| {
                    let first = trials(counts.0, 1_000.0, noises.0, &mut random);
                    let second = trials(counts.1, 1_000.0 * truth, noises.1, &mut random);
                    let ratio = ratio_of_runs(&first, &second, *seed).expect("trials");
                    let (low, high) = ratio.interval.expect("enough of them");
                    low <= truth && truth <= high
                })
                .count();
            assert!((900..=980).contains(&covers), "{counts:?} trials: {covers} of 1000");
        }
    }

    #[test]
    fn the_same_run_twice_is_not_told_apart_and_five_percent_are() {
        let mut random = Rng::with_seed(7);
        let mut claims = |truth: f64| {
            (0..20)
                .filter(|seed| {
                    let first = trials(10, 1_000.0, 0.02, &mut random);
                    let second = trials(10, 1_000.0 * truth, 0.02, &mut random);
                    ratio_of_runs(&first, &second, *seed).expect("trials").differs() == Some(true)
                })
                .count()
        };
        let (same, slower) = (claims(1.0), claims(0.95));
        assert!(same <= 3, "{same} of 20 claim a difference of nothing");
        assert!(slower >= 18, "only {slower} of 20 find 5 %");
    }

    #[test]
    fn few_trials_of_a_run_give_a_point_and_no_trials_give_nothing() {
        let (few, many) = ([100.0; 4], [200.0, 201.0, 199.0, 200.5, 199.5]);
        let ratio = ratio_of_runs(&few, &many, 1).expect("trials");
        assert!((ratio.ratio - 2.0).abs() < 0.01 && ratio.interval.is_none());
        assert_eq!((ratio_of_runs(&[], &many, 1), ratio_of_runs(&[0.0], &many, 1)), (None, None));
        assert_eq!((mean_interval(&few, 1), mean_interval(&[f64::NAN; 9], 1)), (None, None));
        let (low, high) = mean_interval(&many, 1).expect("five");
        assert!(low < 200.0 && 200.0 < high && low > 195.0 && high < 205.0, "{low} to {high}");
        assert_eq!(mean_interval(&[3.0; 5], 1), Some((3.0, 3.0)));
    }

    #[test]
    fn a_drift_is_told_from_chance() {
        let mut random = Rng::with_seed(2);
        let mut arm = |drift: f64| {
            let mut blocks = Blocks::default();
            for block in 0..12 {
                blocks
                    .push(vec![(1.0 + drift * f64::from(block) / 11.0) * (0.01 * normal(&mut random)).exp()]);
            }
            blocks.drift(0, 0.05, 1)
        };
        let found = arm(-0.2).expect("a fifth is lost");
        assert!((found + 0.2).abs() < 0.05, "{found}");
        assert!(arm(0.0).is_none() && arm(0.02).is_none());
    }

    #[test]
    fn every_order_comes() {
        let mut random = Rng::with_seed(1);
        let orders: std::collections::BTreeSet<Vec<usize>> =
            (0..200).map(|_| order(3, &mut random)).collect();
        assert_eq!(orders.len(), 6);
    }
}
