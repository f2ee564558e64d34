import type { ComponentChildren, JSX } from 'preact';
import { t } from '../../strings.ts';

/** A figure with its name. Without a value a dash, with how old the last one is; a value of a while ago pale, with its age. */
export function Stat({
  label,
  value,
  unit = '',
  age = null,
  old = null,
  tone = '',
  note = null,
  children,
}: {
  readonly label: string;
  readonly value: string | null;
  readonly unit?: string;
  /** Of the last value, where `value` is null. */
  readonly age?: string | null;
  /** `value` is not of now: since when, in words. */
  readonly old?: string | null;
  readonly tone?: 'good' | 'warn' | 'bad' | '' | undefined;
  /** Beside it, smaller; its age takes that place. */
  readonly note?: ComponentChildren;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const aside = old ?? (value === null && age !== null ? t.app.old({ age }) : note);
  return (
    <div class={`stat ${value === null || old !== null ? 'stale' : tone}`}>
      <dt>{label}</dt>
      <dd>
        {value ?? t.app.none}
        {value === null || unit === '' ? null : <small> {unit}</small>}
        {children}
        {aside === null ? null : <small class="aside"> {aside}</small>}
      </dd>
    </div>
  );
}
