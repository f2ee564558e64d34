import { Cpu, HardDrive, type IconNode, MemoryStick, Thermometer } from 'lucide';
import type { JSX } from 'preact';
import { number } from '../../parts/format.ts';
import { Icon, Sparkline } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './overview.module.css';
import type { Status } from './problems.ts';

const EVERY_MS = 5000;
// Degrees Celsius between which a board is drawn.
const COLD = 20;
const HOT = 90;

type Part = NonNullable<Status['health']['problems']>[number]['part'];

/** What a machine is short of first, now and over the last ten minutes. Coloured by the node's judgement, which the headline tells too. */
export function Figures({ status }: { readonly status: Status | null }): JSX.Element {
  const system = useAsk('system.get', {}, EVERY_MS).data;
  const text = t.node.overview;
  const recent = system?.recent?.samples ?? [];
  const health = status?.health;
  const tone = (part: Part): 'warn' | 'bad' | undefined =>
    health?.problems?.find((each) => each.part === part)?.severity;
  const of = (
    used: number | null | undefined,
    all: number | null | undefined,
    unit: string,
  ): string | null =>
    used == null || all == null ? null : text.of({ used: number(used, 1), all: number(all, 1), unit });
  const [total, available] = [system?.memory_total_mb, system?.memory_available_mb];
  return (
    <div class={css['figures']}>
      <Figure
        icon={Cpu}
        label={text.cpu}
        value={health?.cpu_percent ?? null}
        tone={tone('cpu')}
        detail={
          system === null
            ? null
            : text.load({ load: number(system.load_avg[0], 1), processors: system.cpu_count })
        }
        recent={recent.map((each) => each.cpu_percent)}
      />
      <Figure
        icon={MemoryStick}
        label={text.memory}
        value={health?.memory_percent ?? null}
        tone={tone('memory')}
        detail={of(
          total == null || available == null ? null : (total - available) / 1024,
          total == null ? null : total / 1024,
          'GiB',
        )}
        recent={recent.map((each) => each.memory_percent)}
      />
      <Figure
        icon={HardDrive}
        label={text.disk}
        value={health?.disk_percent ?? null}
        tone={tone('disk')}
        detail={of(system?.disk_used_gb, system?.disk_total_gb, 'GB')}
        recent={null}
      />
      <Figure
        icon={Thermometer}
        label={text.temperature}
        value={health?.temperature ?? null}
        unit="°C"
        low={COLD}
        high={HOT}
        tone={tone('temperature')}
        detail={health?.temperature === null ? text.noSensor : null}
        recent={recent.map((each) => each.temperature)}
      />
    </div>
  );
}

/** @param recent null: it hardly moves, its bar says it all */
function Figure({
  icon,
  label,
  value,
  unit = '%',
  low = 0,
  high = 100,
  tone,
  detail,
  recent,
}: {
  readonly icon: IconNode;
  readonly label: string;
  readonly value: number | null;
  readonly unit?: string;
  readonly low?: number;
  readonly high?: number;
  readonly tone: 'warn' | 'bad' | undefined;
  readonly detail: string | null;
  readonly recent: readonly (number | null)[] | null;
}): JSX.Element {
  const known = recent?.filter((each) => each !== null).length ?? 0;
  const part = value === null ? 0 : Math.min(1, Math.max(0, (value - low) / (high - low)));
  return (
    <section class={`card ${css['figure']} ${tone ?? ''}`} aria-label={label}>
      <h3>
        <Icon of={icon} />
        {label}
      </h3>
      <p class={css['value']}>
        {number(value)}
        {value === null ? null : <small> {unit}</small>}
      </p>
      <div class={css['course']}>
        {known > 1 && recent !== null ? (
          <Sparkline values={recent} low={low} high={high} />
        ) : (
          <div class={`meter ${tone ?? ''}`} aria-hidden="true">
            <div class="track">
              <span style={{ width: `${Math.round(part * 100)}%` }} />
            </div>
          </div>
        )}
      </div>
      <p class="hint">{detail ?? ' '}</p>
    </section>
  );
}
