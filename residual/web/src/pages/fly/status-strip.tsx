import type { JSX } from 'preact';
import { age, fresh } from '../../api/telemetry.ts';
import { number, span } from '../../parts/format.ts';
import { Badge } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { radioTone } from '../node/radio/radio-state.tsx';
import { readiness } from './commands.ts';
import css from './fly.module.css';
import { heardAgo } from './vehicle-state.ts';

type Tone = 'good' | 'warn' | 'bad' | 'info';
const RADIO_MS = 2000;

/** What a pilot looks at first, in words; mode and arming are in the bar above every page. */
export function StatusStrip(): JSX.Element {
  return (
    <div class={css['strip']} role="group" aria-label={t.fly.state}>
      {heardAgo.value === null ? <Badge tone="warn">{t.fly.noVehicle}</Badge> : <OfVehicle />}
      <Radio />
    </div>
  );
}

function OfVehicle(): JSX.Element {
  const seconds = age('heartbeat');
  const battery = fresh('battery', (body) => body.battery);
  const gps = fresh('gps', (body) => body.gps);
  const ekf = fresh('ekf', (body) => body.ekf?.ok);
  const landed = fresh('landed_state', (body) => body.landed_state);
  const fence = fresh('fence', (body) => body.fence?.breached);
  const threat = fresh('collision', (body) => body.collision);
  const link: Tone = seconds === null || seconds > 3 ? 'bad' : seconds > 1.5 ? 'warn' : 'good';
  return (
    <>
      {landed === null ? null : <Badge>{t.fly.flown[landed]}</Badge>}
      <Badge tone={link}>
        {link === 'bad' ? `${t.fly.linkLost}, ${span(seconds)}` : t.fly.link(number(seconds, 1))}
      </Badge>
      <Badge tone={batteryTone(battery?.remaining)}>
        {t.fly.battery(number(battery?.remaining), number(battery?.voltage, 1))}
      </Badge>
      <Badge tone={gps === null || (gps.fix_type ?? 0) < 3 ? 'warn' : 'good'}>
        {t.fly.gps(t.fly.fix[gps?.fix_type ?? -1] ?? t.app.none, number(gps?.satellites))}
      </Badge>
      {ekf === null ? null : (
        <Badge tone={ekf ? 'good' : 'bad'}>{ekf ? t.fly.ekf.good : t.fly.ekf.bad}</Badge>
      )}
      {fence === true ? <Badge tone="bad">{t.fly.fenceBreached}</Badge> : null}
      {threat === null ? null : (
        <Badge tone={threat.level === 'high' ? 'bad' : 'warn'}>
          {t.fly.collision(threat.id, threat.level)}
        </Badge>
      )}
      <Ready />
      <RemoteId />
    </>
  );
}

/** Whether it would arm, while it is not armed. */
function Ready(): JSX.Element | null {
  const ready = readiness();
  if (ready === null || ready.canArm === null) return null;
  return ready.canArm ? (
    <Badge tone="good">{t.fly.ready}</Badge>
  ) : (
    <Badge tone="warn">
      {t.fly.notReady}
      {ready.reasons.length === 0 ? '' : `: ${ready.reasons.join('; ')}`}
    </Badge>
  );
}

/** What its Remote ID transmitter says against a flight that the vehicle itself would begin all the same. */
function RemoteId(): JSX.Element | null {
  const said = fresh('heartbeat', ({ armed, prearm }) =>
    armed === true ? [] : (prearm?.reasons ?? []).filter(({ source }) => source === 'remote_id'),
  );
  // Where it does not arm, all its reasons stand there already.
  if (said === null || readiness()?.canArm === false) return null;
  return (
    <>
      {said.map(({ text }) => (
        <Badge key={text} tone="warn">
          {text}
        </Badge>
      ))}
    </>
  );
}

function Radio(): JSX.Element | null {
  const { data, error } = useAsk('wfb.get', {}, RADIO_MS);
  // An old answer is no quality of now.
  if (data === null || error !== null || data.state === 'absent') return null;
  const { rssi_dbm: rssi, loss_percent: loss } = data;
  const words = [
    t.fly.radioState[data.state],
    ...(typeof rssi === 'number' ? [`${number(rssi)} dBm`] : []),
    ...(typeof loss === 'number' ? [t.node.radio.loses(number(loss, 1))] : []),
  ].join(', ');
  return <Badge tone={radioTone(data)}>{t.fly.radio(words)}</Badge>;
}

function batteryTone(remaining: number | null | undefined): Tone {
  if (remaining === null || remaining === undefined) return 'info';
  return remaining > 40 ? 'good' : remaining > 20 ? 'warn' : 'bad';
}
