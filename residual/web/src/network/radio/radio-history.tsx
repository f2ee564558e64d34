import { ChartLine } from 'lucide';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Chart } from '../../parts/figures/chart.tsx';
import { Asked, Card, EmptyState } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

const EVERY_MS = 2000;
const SECONDS = 300;

/** The last five minutes of the link. */
export function RadioHistory(): JSX.Element {
  const asked = useAsk('wfb.history.get', { query: { seconds: SECONDS } }, EVERY_MS);
  const { data } = asked;
  const text = t.node.radio;
  const samples = data?.samples ?? [];
  const times = useMemo(() => samples.map(({ timestamp }) => Date.parse(timestamp) / 1000), [data]);
  const loss = useMemo(
    () => [
      { name: text.lossBefore, values: samples.map((each) => each.loss_before_fec_percent ?? null) },
      { name: text.loss, values: samples.map((each) => each.loss_percent ?? null) },
    ],
    [data],
  );
  const rssi = useMemo(() => [{ name: '', values: samples.map((each) => each.rssi_dbm ?? null) }], [data]);
  return (
    <Card title={text.history} icon={ChartLine}>
      <Asked of={asked} empty={() => (samples.length === 0 ? <EmptyState text={text.noHistory} /> : null)}>
        {() => (
          <>
            <h3>{text.lossOverTime}</h3>
            <Chart label={text.lossOverTime} unit="%" times={times} lines={loss} />
            <h3>{text.rssi}</h3>
            <Chart label={text.rssi} unit="dBm" digits={0} times={times} lines={rssi} />
          </>
        )}
      </Asked>
    </Card>
  );
}
