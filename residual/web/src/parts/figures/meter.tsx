import type { JSX } from 'preact';
import { t } from '../../strings.ts';

/** How full something is: a name, the value in words, a bar. @param part 0 to 1; null: not known */
export function Meter({
  label,
  text,
  part,
  tone,
}: {
  readonly label: string;
  readonly text: string;
  readonly part: number | null;
  readonly tone?: 'warn' | 'bad' | undefined;
}): JSX.Element {
  const percent = part === null ? 0 : Math.round(Math.min(1, Math.max(0, part)) * 100);
  return (
    <div class={`meter ${tone ?? ''}`}>
      <span>{label}</span>
      <strong>{part === null ? t.app.none : text}</strong>
      <div class="track" aria-hidden="true">
        <span style={{ width: `${percent}%` }} />
      </div>
    </div>
  );
}
