import type { JSX } from 'preact';
import { bytes, number, span } from '../../parts/format.ts';
import { Badge, Card, ErrorNote, Note, Stat } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

const LOOK_MS = 2000;
const TONES = { off: 'info', connecting: 'warn', streaming: 'good', stale: 'bad', failed: 'bad' } as const;

/** Where corrections come from, and whether they come. */
export function Corrections(): JSX.Element {
  const { data, error, reload } = useAsk('rtk.get', {}, LOOK_MS);
  const text = t.vehicle.corrections;
  return (
    <Card title={text.title}>
      <ErrorNote error={error} onRetry={reload} />
      {data === null ? null : (
        <p>
          <Badge tone={TONES[data.state]}>{text.states[data.state]}</Badge>
        </p>
      )}
      {data?.state === 'off' ? <p class="hint">{text.about}</p> : null}
      {data?.problem == null ? null : <Note tone="warn">{data.problem}</Note>}
      {data === null || data.state === 'off' ? null : (
        <dl class="stats">
          <Stat label={text.source} value={data.source} />
          {data.mountpoint === null ? null : <Stat label={text.mountpoint} value={data.mountpoint} />}
          <Stat label={text.newest} value={span(data.age_s)} />
          <Stat label={text.rate} value={text.aSecond(bytes(data.rate_bps / 8))} />
          <Stat label={text.frames} value={number(data.frames)} />
          <Stat label={text.bad} value={number(data.bad_frames)} />
          <Stat label={text.dropped} value={number(data.dropped)} />
          <Stat label={text.messages} value={Object.keys(data.messages).join(', ')} />
        </dl>
      )}
    </Card>
  );
}
