import type { Answer } from '../../api/rows.ts';
import type { PageId } from '../../app/route.ts';
import { wordFor } from '../../language/words.ts';
import { t } from '../../strings.ts';

export type Status = Answer<'status.get'>;

/** Something that is wrong with the node, and what to do about it. */
export interface Problem {
  readonly tone: 'warn' | 'bad';
  /** In a sentence. */
  readonly what: string;
  readonly todo: string | null;
  /** The place where it is done: page and tab. */
  readonly at: readonly [PageId, ...string[]] | null;
}

/** All that the node knows to be wrong, the worst first; each once. A part that was not asked yet is null. */
export function problemsOf(
  status: Status | null,
  diagnostics: Answer<'diagnostics.get'> | null,
  services: Answer<'services.get'> | null,
): readonly Problem[] {
  const text = t.node.overview;
  const said = (what: string, at: Problem['at'] = null): Problem => ({ tone: 'warn', what, todo: null, at });
  const found: readonly Problem[] = [
    ...(services?.services ?? []).flatMap(({ name, state, restart_required: keys }): readonly Problem[] => {
      if (state === 'parked')
        return [{ tone: 'bad', what: text.parked({ name }), todo: text.parkedToDo, at: ['node', 'log'] }];
      return keys.length === 0 ? [] : [said(t.node.services.waiting({ keys: keys.join(', ') }))];
    }),
    ...(status?.health.problems ?? []).map(
      ({ part, severity, detail }): Problem => ({
        tone: severity,
        what: detail,
        todo: null,
        at: part === 'disk' ? ['node', 'video'] : null,
        ...wordFor(text.full, part),
      }),
    ),
    ...(status === null || status.fc_connected || status.profile !== 'drone'
      ? []
      : [
          {
            tone: 'warn' as const,
            what: text.noVehicle[status.fc_link_hint ?? 'link_down'],
            todo: text.noVehicleToDo,
            at: ['vehicle', 'link'] as const,
          },
        ]),
    ...(status?.config?.problem == null ? [] : [said(status.config.problem, ['node', 'config'])]),
    ...(status?.link_problems ?? []).map(({ detail }) => said(detail, ['vehicle', 'link'])),
    ...(diagnostics?.problems ?? []).map((what) => said(what)),
    ...[diagnostics?.audit.problem, diagnostics?.audit.broken].flatMap((each) =>
      each == null ? [] : [said(each, ['access', 'audit'])],
    ),
  ];
  const once = [...new Map(found.toReversed().map((each) => [each.what, each])).values()].toReversed();
  return once.toSorted((a, b) => Number(b.tone === 'bad') - Number(a.tone === 'bad'));
}
