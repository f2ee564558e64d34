import { CircleCheck, CircleDashed, type IconNode, OctagonAlert, RefreshCw, TriangleAlert } from 'lucide';
import type { JSX } from 'preact';
import { hrefOf } from '../../app/route.ts';
import { Button, ErrorNote, Icon } from '../../parts/parts.tsx';
import { type AskState, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './overview.module.css';
import type { Status } from './problems.ts';
import { type Problem, problemsOf } from './problems.ts';

const ICONS = { good: CircleCheck, warn: TriangleAlert, bad: OctagonAlert } as const satisfies Record<
  string,
  IconNode
>;
const EVERY_MS = 15_000;

/** Whether all is well; else the worst of what is wrong with what to do, and the rest below it. */
export function Headline({ status }: { readonly status: AskState<Status> }): JSX.Element {
  const diagnostics = useAsk('diagnostics.get', {}, EVERY_MS);
  const services = useAsk('services.get', {}, EVERY_MS);
  const text = t.node.overview;
  const problems = problemsOf(status.data, diagnostics.data, services.data);
  const known = status.data !== null && diagnostics.data !== null;
  const failed = status.error !== null || diagnostics.error !== null;
  const [worst, ...others] = problems;
  const tone = worst?.tone ?? 'good';
  const look = (): void => {
    status.reload();
    diagnostics.reload();
    services.reload();
  };
  return (
    <section
      class={`card ${css['headline']} ${known ? tone : ''}`}
      aria-labelledby="health"
      aria-live="polite"
    >
      <Icon of={known ? ICONS[tone] : CircleDashed} />
      <div>
        <h2 id="health">{known ? (worst?.what ?? text.well) : failed ? text.notTold : t.app.loading}</h2>
        {worst === undefined ? known ? <p>{text.wellHint}</p> : null : <WhatToDo problem={worst} />}
      </div>
      <Button kind="quiet" icon={RefreshCw} aria-label={text.look} onClick={look} />
      {others.length === 0 ? null : (
        <ul class={css['problems']}>
          {others.map((problem) => (
            <li key={problem.what} class={problem.tone}>
              <Icon of={ICONS[problem.tone]} />
              <div>
                <strong>{problem.what}</strong>
                <WhatToDo problem={problem} />
              </div>
            </li>
          ))}
        </ul>
      )}
      <ErrorNote error={status.error ?? diagnostics.error} onRetry={look} />
    </section>
  );
}

function WhatToDo({ problem: { todo, at } }: { readonly problem: Problem }): JSX.Element | null {
  if (todo === null && at === null) return null;
  return (
    <p>
      {todo} {at === null ? null : <a href={hrefOf(...at)}>{t.node.overview.goThere}</a>}
    </p>
  );
}
