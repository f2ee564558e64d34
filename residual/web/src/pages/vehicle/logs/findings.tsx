import { CircleCheck, Info, OctagonAlert, TriangleAlert } from 'lucide';
import type { JSX } from 'preact';
import type { FlightReport } from '../../../../../../shared/schemas/flight-report.ts';
import { Icon } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { elapsed } from '../viewer/times.ts';
import css from './logs.module.css';

type Finding = FlightReport['findings'][number];

const CLASSES = { info: '', warning: css['warning'], critical: css['critical'] } as const;
const MARKS = { info: Info, warning: TriangleAlert, critical: OctagonAlert } as const;

/** What exceeded a limit, in the order in which it began, and what to do about it. */
export function Findings({ findings }: { readonly findings: readonly Finding[] }): JSX.Element {
  if (findings.length === 0)
    return (
      <p class={css['fine']}>
        <Icon of={CircleCheck} /> {t.vehicle.plots.noFindings}
      </p>
    );
  return (
    <ul class={css['findings']}>
      {findings.map((finding) => (
        <li key={`${finding.at_s ?? ''} ${finding.text}`} class={CLASSES[finding.severity]}>
          <Icon of={MARKS[finding.severity]} />
          <span>
            <When finding={finding} /> {finding.text}
            {finding.advice === undefined ? null : <span class="hint"> {finding.advice}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

function When({ finding: { at_s: at, from, to } }: { readonly finding: Finding }): JSX.Element | null {
  const [first, last] = [from ?? at, to ?? at];
  if (first === null || last === null) return null;
  const [begun, over] = [elapsed(first, 0.1), elapsed(last, 0.1)];
  return <time>{begun === over ? begun : `${begun} – ${over}`}</time>;
}
