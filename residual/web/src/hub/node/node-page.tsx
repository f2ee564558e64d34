import { Drone } from 'lucide';
import type { JSX } from 'preact';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { now as clock } from '../../api/presence.ts';
import { EmptyState } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { nodes } from '../fleet/fleet.ts';
import { isTold, useLooked } from '../fleet/watch-fleet.ts';
import { useFacts } from '../fly/facts.ts';
import { liveOf, useLive } from '../fly/live.ts';
import { useCommands, whyNone } from '../fly/orders.ts';
import { hub } from '../hub-words.ts';
import { hrefOf } from '../route.ts';
import { Commands } from './commands.tsx';
import { Details } from './details.tsx';
import { Dock } from './dock.tsx';
import css from './hub-node.module.css';
import { OperatorKey } from './operator-key.tsx';
import { Stage } from './stage.tsx';
import { Timeline } from './timeline.tsx';

/** How often a node that is looked at speaks. */
const TELEMETRY_HZ = 5;

/** One node, arranged as the page to fly by; beside it what it can be told, what happened there, and the rest. */
export function NodePage({ id }: { readonly id: string }): JSX.Element {
  useLooked([id]);
  const entry = nodes.value?.find((node) => node.entry.id === id)?.entry;
  if (entry === undefined && !isTold(id)) return <p class="first">{t.app.loading}</p>;
  return entry === undefined ? (
    <EmptyState icon={Drone} text={hub.node.unknown({ id })}>
      <a class="button" href={hrefOf('fleet')}>
        {hub.node.back}
      </a>
    </EmptyState>
  ) : (
    <OneNode entry={entry} />
  );
}

function OneNode({ entry }: { readonly entry: NodeEntry }): JSX.Element {
  void clock.value;
  useLive([entry.id], TELEMETRY_HZ, 0);
  const facts = useFacts(entry);
  const commands = useCommands(entry, facts, liveOf(entry.id).body);
  const none = whyNone(entry, facts);
  return (
    <div class={css['node']}>
      <Stage entry={entry} />
      <section class={css['side']} aria-label={hub.node.side} tabIndex={0}>
        <Commands entry={entry} facts={facts} commands={commands} none={none} />
        <OperatorKey entry={entry} facts={facts} />
        <Timeline id={entry.id} />
        <Details entry={entry} />
      </section>
      <div class={css['dock-place']}>
        <Dock commands={commands} none={none} />
      </div>
    </div>
  );
}
