import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../../api/client.ts';
import type { Answer } from '../../../api/rows.ts';
import { bytes, number, span } from '../../../parts/format.ts';
import { Asked, Badge, Button, Card, ErrorNote, Field, Note, Stat } from '../../../parts/parts.tsx';
import { mustRestart, Restarts } from '../../../parts/restart.tsx';
import { useAct, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';

const LOOK_MS = 2000;
const TONES = { off: 'info', connecting: 'warn', streaming: 'good', stale: 'bad', failed: 'bad' } as const;

/** Where corrections come from, and whether they come. */
export function Corrections(): JSX.Element {
  const asked = useAsk('rtk.get', {}, LOOK_MS);
  const { data } = asked;
  const text = t.vehicle.corrections;
  return (
    <Card title={text.title}>
      <Asked of={asked} />
      {data === null ? null : (
        <p>
          <Badge tone={TONES[data.state]}>{text.states[data.state]}</Badge>
        </p>
      )}
      {data?.state === 'off' ? <p class="hint">{text.about}</p> : null}
      {data?.problem == null ? null : <Note tone="warn">{data.problem}</Note>}
      {data?.mountpoints == null || data.mountpoints.length === 0 ? null : (
        <Mountpoints from={data.mountpoints} />
      )}
      <Restarts />
      {data === null || data.state === 'off' ? null : (
        <dl class="stats">
          <Stat label={text.source} value={data.source} />
          {data.mountpoint === null ? null : <Stat label={text.mountpoint} value={data.mountpoint} />}
          <Stat label={text.newest} value={span(data.age_s)} />
          <Stat label={text.rate} value={text.aSecond({ size: bytes(data.rate_bps / 8) })} />
          <Stat label={text.frames} value={number(data.frames)} />
          <Stat label={text.bad} value={number(data.bad_frames)} />
          <Stat label={text.dropped} value={number(data.dropped)} />
          <Stat label={text.messages} value={Object.keys(data.messages).join(', ')} />
        </dl>
      )}
    </Card>
  );
}

/** What the caster has to choose from. */
function Mountpoints({
  from,
}: {
  readonly from: NonNullable<Answer<'rtk.get'>['mountpoints']>;
}): JSX.Element {
  const [name, setName] = useState(from[0]?.name ?? '');
  const act = useAct();
  const text = t.vehicle.corrections;
  const use = async (): Promise<void> => {
    const { restart_required: names } = await call('config.put', {
      body: { key: 'rtk.ntrip.mountpoint', value: name },
    });
    mustRestart(names);
  };
  const chosen = from.find((each) => each.name === name);
  return (
    <>
      <Field label={text.choose}>
        {(ids) => (
          <select {...ids} value={name} onChange={(event) => setName(event.currentTarget.value)}>
            {from.map((each) => (
              <option key={each.name} value={each.name}>
                {[each.name, each.place, each.distance_km === null ? '' : text.away({ km: each.distance_km })]
                  .filter((part) => part !== '')
                  .join(', ')}
              </option>
            ))}
          </select>
        )}
      </Field>
      {chosen?.wants_position === true ? <p class="hint">{text.virtual}</p> : null}
      <ErrorNote error={act.error} />
      <Button row="config.put" busy={act.busy} onClick={() => void act.run(use)}>
        {text.use}
      </Button>
    </>
  );
}
