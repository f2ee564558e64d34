import { ChevronDown, ChevronUp, PencilLine, Upload, X } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { shownFloat } from '../../../../../../shared/flight/shown-float.ts';
import { isReservedParam } from '../../../../../../shared/mavlink/param-classes.ts';
import { armed } from '../../../api/telemetry.ts';
import { Badge, Button, ErrorNote, Icon, Note } from '../../../parts/parts.tsx';
import { useAct } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { isOutside, type Param } from '../../../vehicle/param.ts';
import css from './params.module.css';
import { stage, staged } from './staged-values.ts';
import { WrittenList, type WrittenParam, writeParams } from './written.tsx';

// Of one request, by its schema.
const MAX_WRITES = 500;

/** What is to be written, and what became of what was written. */
export function Staged({
  params,
  onWritten,
}: {
  params: readonly Param[];
  onWritten: () => void;
}): JSX.Element | null {
  const { busy, error, run, clear } = useAct();
  const [forced, setForced] = useState(false);
  const [again, setAgain] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [written, setWritten] = useState<readonly WrittenParam[]>([]);
  const changes = [...staged.value].map(([name, value]) => ({
    name,
    value,
    param: params.find((each) => each.name === name) ?? null,
  }));
  if (changes.length === 0 && written.length === 0 && error === null) return null;
  const guarded = armed.value === true || armed.value === 'unknown';
  const reserved = changes.map(({ name }) => name).filter(isReservedParam);
  const isNamed = again.trim().toUpperCase() === reserved.join(' ').toUpperCase();
  const outside = changes.some(({ value, param }) => isOutside(value, param?.details ?? null));
  const isOverridable = guarded || outside || error?.extras['override'] !== undefined;
  const write = async (): Promise<void> => {
    const entries = [...staged.value].slice(0, MAX_WRITES);
    const done = (results: readonly WrittenParam[]): void => {
      setWritten(results);
      for (const { name } of results) stage(name, null);
      setForced(false);
      setAgain('');
      onWritten();
    };
    await writeParams(entries, forced && isOverridable, done, isNamed ? reserved : []);
  };
  return (
    <section class={css['staged']} aria-label={t.vehicle.params.staged({ count: changes.length })}>
      <ErrorNote error={error} />
      {written.length === 0 ? null : <WrittenList written={written} />}
      {changes.length === 0 ? (
        <Button
          onClick={() => {
            setWritten([]);
            clear();
          }}
        >
          {t.app.close}
        </Button>
      ) : (
        <>
          {isOpen ? (
            <ul class={css['review']} tabIndex={0} aria-label={t.vehicle.tree.staged}>
              {changes.map(({ name, value, param }) => (
                <li key={name}>
                  <span>
                    <strong>{name}</strong> {param === null ? t.app.none : shownFloat(param.value)} →{' '}
                    <strong>{shownFloat(value)}</strong>{' '}
                    {isOutside(value, param?.details ?? null) ? (
                      <Badge tone="warn">{t.vehicle.params.outsideShort}</Badge>
                    ) : null}{' '}
                    {param?.details?.metadata?.reboot_required === true ? (
                      <Badge>{t.vehicle.params.reboot}</Badge>
                    ) : null}
                  </span>
                  <Button
                    kind="quiet"
                    icon={X}
                    onClick={() => stage(name, null)}
                    aria-label={t.vehicle.params.drop({ name })}
                  />
                </li>
              ))}
            </ul>
          ) : null}
          {guarded ? <Note tone="warn">{t.vehicle.params.armed}</Note> : null}
          {reserved.length === 0 ? null : (
            <label>
              {t.vehicle.params.confirm({ names: reserved.join(' ') })}{' '}
              <input
                value={again}
                autocomplete="off"
                onInput={(event) => setAgain(event.currentTarget.value)}
              />
            </label>
          )}
          {isOverridable ? (
            <label class="check">
              <input
                type="checkbox"
                checked={forced}
                onChange={(event) => setForced(event.currentTarget.checked)}
              />{' '}
              {t.vehicle.params.force}
            </label>
          ) : null}
          <header>
            <h2>
              <Icon of={PencilLine} />
              {t.vehicle.params.staged({ count: changes.length })}
            </h2>
            <Button
              kind="quiet"
              icon={isOpen ? ChevronDown : ChevronUp}
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              {t.vehicle.tree.review}
            </Button>
            <Button onClick={() => (staged.value = new Map())}>{t.vehicle.params.discard}</Button>
            <Button
              kind="primary"
              icon={Upload}
              row="params.put"
              explain
              busy={busy}
              why={isNamed ? null : t.vehicle.params.confirmFirst}
              onClick={() => void run(write)}
            >
              {t.vehicle.params.write({ count: changes.length })}
            </Button>
          </header>
        </>
      )}
    </section>
  );
}
