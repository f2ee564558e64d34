import type { JSX } from 'preact';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { seenIn } from '../../../../../shared/flight/seen.ts';
import { memberOf } from '../../../../../shared/member.ts';
import { now as clock } from '../../api/presence.ts';
import { distance } from '../../map/projection.ts';
import flyCss from '../../pages/fly/instruments.module.css';
import { HorizonDial } from '../../parts/figures/horizon-dial.tsx';
import { number } from '../../parts/format.ts';
import { Stat } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { liveOf } from '../fly/live.ts';
import { hub } from '../hub-words.ts';
import css from './hub-node.module.css';

const DEGREE = 180 / Math.PI;
const LOW = 30;
const EMPTY = 15;

/** How it stands and what is read while it flies; what is not of now is a dash. */
export function Instruments({ entry }: { readonly entry: NodeEntry }): JSX.Element {
  void clock.value;
  const { body: told } = liveOf(entry.id);
  // What it has of a vehicle that is silent is older than itself.
  const body = told?.['mavlink_alive'] === false ? null : told;
  const { place, home, battery } = seenIn(body);
  const read = (group: string, member: string): number | null => numberIn(body, group, member);
  const [roll, pitch] = [read('attitude', 'roll'), read('attitude', 'pitch')];
  const attitude = roll === null || pitch === null ? null : { roll: roll * DEGREE, pitch: pitch * DEGREE };
  const shown = (value: number | null, digits = 0): string | null =>
    value === null ? null : number(value, digits);
  const far = place === null || home === null ? null : distance(place, home);
  const tone = battery === null || battery >= LOW ? undefined : battery >= EMPTY ? 'warn' : 'bad';
  return (
    <div class={css['instruments']}>
      <HorizonDial class={flyCss['horizon']} attitude={attitude} heading={read('position', 'heading')} />
      <dl class={flyCss['key-figures']}>
        <Stat label={t.fly.height} value={shown(read('position', 'alt_rel'), 1)} unit="m" />
        <Stat label={t.fly.ground} value={shown(read('velocity', 'groundspeed'), 1)} unit="m/s" />
        <Stat label={t.fly.climb} value={shown(read('velocity', 'climb'), 1)} unit="m/s" />
        <Stat label={t.fly.home} value={shown(far)} unit="m" />
        <Stat label={hub.node.battery} value={shown(battery)} unit="%" tone={tone} />
        <Stat label={hub.node.figures.satellites} value={shown(read('gps', 'satellites'))} />
      </dl>
    </div>
  );
}

/** A figure of the telemetry; null: not told. */
export function numberIn(body: unknown, group: string, member: string): number | null {
  const value = memberOf(memberOf(body, group), member);
  return typeof value === 'number' ? value : null;
}
