import {
  ArrowRight,
  CircleCheck,
  CircleHelp,
  PlaneTakeoff,
  ShieldAlert,
  TriangleAlert,
  Unplug,
} from 'lucide';
import type { JSX } from 'preact';
import { readinessOf } from '../../../../../../shared/flight/readiness.ts';
import { memberOf } from '../../../../../../shared/member.ts';
import { age, armed, flight, fresh, isAwaited, newest } from '../../../api/telemetry.ts';
import { wordFor } from '../../../language/words.ts';
import { span } from '../../../parts/format.ts';
import { Awaited, Badge, Icon } from '../../../parts/parts.tsx';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { sectionHref } from '../../../vehicle/section.ts';
import css from './condition.module.css';
import { VehicleDrawing } from './vehicle-drawing.tsx';

const SLOW_MS = 10_000;
const TONES = { good: css['good'], warn: css['warn'], '': '' } as const;
const text = t.vehicle.overview;

/** What it is, and whether it would fly. */
export function Headline(): JSX.Element {
  const type = newest.value?.mav_type ?? null;
  const kind = type === null ? null : (wordFor(text.kinds, type) ?? text.otherKind({ type }));
  const about = useAsk('mavlink.signing.capability.get', {}, SLOW_MS).data;
  const firmware = [about?.firmware_name, about?.firmware_version].filter((part) => part != null).join(' ');
  const silent = age('link');
  return (
    <section class={`card wide ${css['headline']}`} aria-label={text.title}>
      <VehicleDrawing type={type} />
      <div>
        <h2>{kind ?? (isAwaited.value ? t.app.loading : text.none)}</h2>
        <p class={css['about']}>
          {firmware === '' ? null : <span>{firmware}</span>}
          <Board />
          <Uptime />
          {silent === null ? null : (
            <Badge tone={silent > 3 ? 'bad' : 'good'}>
              {silent > 3 ? text.silent({ time: span(silent) }) : text.heard}
            </Badge>
          )}
        </p>
      </div>
      <Verdict />
    </section>
  );
}

/** In one sentence. */
function Verdict(): JSX.Element {
  const ready = newest.value === null ? null : readinessOf(newest.value);
  const silent = age('link');
  if (isAwaited.value)
    return (
      <div class={css['verdict']}>
        <Awaited />
      </div>
    );
  if (silent === null || silent > 3)
    return (
      <div class={`${css['verdict']} ${css['bad']}`} role="status">
        <Icon of={Unplug} />
        <div>
          <strong>{silent === null ? text.notHeard : text.lost}</strong>
          <p>
            {text.checkLink}{' '}
            <a href={sectionHref('link', 'connection')}>
              {text.toLink} <Icon of={ArrowRight} />
            </a>
          </p>
        </div>
      </div>
    );
  const mode = fresh('heartbeat', (now) => now.mode) ?? t.app.none;
  const goesIn = (takeOff: string | null | undefined, arm: string): string =>
    typeof takeOff === 'string' ? t.fly.takeoffIn({ mode: takeOff }) : t.fly.armsIn({ mode: arm });
  const [tone, icon, title, hint] =
    armed.value === true
      ? flight.value === 'in_air'
        ? (['warn', PlaneTakeoff, t.app.vehicle.flying, text.flyingHint({ mode })] as const)
        : (['warn', ShieldAlert, t.app.vehicle.armed, text.armedHint({ mode })] as const)
      : ready?.canArm === true
        ? (['good', CircleCheck, t.fly.ready, text.readyHint({ mode })] as const)
        : ready?.canArm === false
          ? ready.first !== null
            ? ([
                '',
                CircleHelp,
                text.byMode({ mode }),
                goesIn(ready.takeOffMode, ready.first.args.join(' ')),
              ] as const)
            : ([
                'warn',
                TriangleAlert,
                t.fly.notReady,
                text.notReadyHint({ count: ready.reasons.length }),
              ] as const)
          : (['', CircleHelp, text.unknown, text.unknownHint] as const);
  return (
    <div class={`${css['verdict']} ${TONES[tone]}`} role="status">
      <Icon of={icon} />
      <div>
        <strong>{title}</strong>
        <p>{hint}</p>
      </div>
    </div>
  );
}

/** AUTOPILOT_VERSION.board_version: ArduPilot has the id of its board in the upper half (hal.h: APJ_BOARD_ID). */
function Board(): JSX.Element | null {
  const board = useField('AUTOPILOT_VERSION', 'board_version', SLOW_MS);
  const id = board === null ? 0 : Math.floor(board / 2 ** 16);
  return id === 0 ? null : <span>{text.board({ id })}</span>;
}

/** ATTITUDE.time_boot_ms. */
function Uptime(): JSX.Element | null {
  const ms = useField('ATTITUDE', 'time_boot_ms', SLOW_MS);
  return ms === null ? null : <span>{text.uptime({ time: span(ms / 1000) })}</span>;
}

function useField(name: string, field: string, everyMs: number): number | null {
  const { data } = useAsk('mavlink.messages.get', { query: { name } }, everyMs);
  const found = data?.messages.find(({ last }) => last !== null);
  const value = memberOf(found?.last, field);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
