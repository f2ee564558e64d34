import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { keysOf } from '../../../../../shared/member.ts';
import type { Answer } from '../../api/rows.ts';
import { wordFor } from '../../language/words.ts';
import css from '../../network/node.module.css';
import { Chart, type Line } from '../../parts/figures/chart.tsx';
import { Asked, Card, Segmented } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

type Bucket = Answer<'observability.aggregate.get'>['data'][number];

/** What the node writes down once a second, by chart. */
const CHARTS = [
  { id: 'load', unit: '', digits: 2, metrics: ['node.load'] },
  { id: 'memory', unit: 'MB', digits: 0, metrics: ['node.memory_mb'] },
  { id: 'voltage', unit: 'V', digits: 2, metrics: ['battery.voltage'] },
  { id: 'current', unit: 'A', digits: 1, metrics: ['battery.current'] },
  { id: 'remaining', unit: '%', digits: 0, metrics: ['battery.remaining'] },
  { id: 'link', unit: '', digits: 0, metrics: ['link.rx_lost', 'link.rx_bad_crc'] },
  { id: 'rc', unit: '%', digits: 0, metrics: ['rc.rssi'] },
  { id: 'satellites', unit: '', digits: 0, metrics: ['gps.satellites'] },
  { id: 'altitude', unit: 'm', digits: 1, metrics: ['position.alt_rel'] },
  { id: 'speed', unit: 'm/s', digits: 1, metrics: ['velocity.groundspeed'] },
] as const;
const RANGES = {
  '1h': { bucket: '1m', width: 60, seconds: 3600 },
  '6h': { bucket: '1m', width: 60, seconds: 21_600 },
  '24h': { bucket: '1m', width: 60, seconds: 86_400 },
  '7d': { bucket: '1h', width: 3600, seconds: 604_800 },
} as const;
type Range = keyof typeof RANGES;
const EVERY_MS = 60_000;

/** Figures of the last hours, where they were recorded. */
export function MetricsTab(): JSX.Element {
  const [range, setRange] = useState<Range>('1h');
  return (
    <>
      <div class={css['range']}>
        <Segmented
          label={t.node.metrics.range}
          options={keysOf(RANGES).map((id) => ({ id, name: t.node.metrics.ranges[id] }))}
          chosen={range}
          onChoose={setRange}
        />
        <p class="hint">{t.node.metrics.hint}</p>
      </div>
      <div class={`page ${css['charts']}`}>
        {CHARTS.map((chart) => (
          <MetricChart key={chart.id} chart={chart} range={range} />
        ))}
      </div>
    </>
  );
}

function MetricChart({ chart, range }: { chart: (typeof CHARTS)[number]; range: Range }): JSX.Element | null {
  const { bucket, width, seconds } = RANGES[range];
  const asked = useAsk(
    'observability.aggregate.get',
    { query: { metric: chart.metrics.join(','), since: `-${range}`, bucket } },
    EVERY_MS,
  );
  const { data, error } = asked;
  const drawn = useMemo(() => linesOf(data?.data ?? [], chart.metrics, width), [data, width]);
  // Load and memory are always there; of the others it is not known before they have come.
  const isCertain = chart.metrics.some((metric) => metric.startsWith('node.'));
  if (error === null && drawn.times.length === 0 && !(asked.isAwaited && isCertain)) return null;
  return (
    <Card title={t.node.metrics.chart[chart.id]}>
      <Asked of={asked} />
      <Chart
        label={t.node.metrics.chart[chart.id]}
        unit={chart.unit}
        digits={chart.digits}
        seconds={seconds}
        {...drawn}
      />
    </Card>
  );
}

/** One time a bucket; where a bucket is missing, a gap. @param width of a bucket, seconds */
function linesOf(
  buckets: readonly Bucket[],
  metrics: readonly string[],
  width: number,
): { times: readonly number[]; lines: readonly Line[] } {
  const found = new Map(buckets.map((each) => [`${each.metric} ${each.bucket_us / 1e6}`, each]));
  const measured = [...new Set(buckets.map((each) => each.bucket_us / 1e6))].toSorted((a, b) => a - b);
  const times = measured.flatMap((at, n) => {
    const before = measured[n - 1];
    return before !== undefined && at - before > width * 1.5 ? [before + width, at] : [at];
  });
  const lines = metrics
    .map((name) => ({ name, each: times.map((at) => found.get(`${name} ${at}`)) }))
    .filter(({ each }) => each.some((bucket) => bucket !== undefined))
    .map(({ name, each }) => ({
      name: metrics.length === 1 ? '' : (wordFor(t.node.metrics.line, name) ?? name),
      values: each.map((bucket) => bucket?.mean ?? null),
      least: each.map((bucket) => bucket?.min ?? null),
      most: each.map((bucket) => bucket?.max ?? null),
    }));
  return { times, lines };
}
