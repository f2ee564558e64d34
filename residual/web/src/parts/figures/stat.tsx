import type { JSX } from 'preact';
import { t } from '../../strings.ts';

/** A figure with its name; without a value a dash, with how old the last one is. */
export function Stat({
  label,
  value,
  unit = '',
  age = null,
  tone,
}: {
  label: string;
  value: string | null;
  unit?: string;
  age?: string | null;
  tone?: 'good' | 'warn' | 'bad' | undefined;
}): JSX.Element {
  return (
    <div class={`stat ${value === null ? 'stale' : (tone ?? '')}`}>
      <dt>{label}</dt>
      <dd>
        {value ?? t.app.none}
        {value === null || unit === '' ? null : <small> {unit}</small>}
        {value === null && age !== null ? <small> {t.app.old({ age })}</small> : null}
      </dd>
    </div>
  );
}
