import {
  Bot,
  Cpu,
  Database,
  type IconNode,
  Map as MapIcon,
  Network,
  Plane,
  Puzzle,
  RadioTower,
  ShieldCheck,
  SlidersHorizontal,
  Video,
  Wrench,
} from 'lucide';
import type { JSX } from 'preact';
import type { TOPICS } from '../../../../../shared/config/leaf.ts';
import { call } from '../../api/client.ts';
import { denied, enter } from '../../api/node.ts';
import { hrefOf, place } from '../../app/route.ts';
import { SettingsSections } from '../../extensions/panels.tsx';
import { AddKey } from '../../parts/closed.tsx';
import { SchemaForm } from '../../parts/form/schema-form.tsx';
import { Awaited, Card, ErrorNote } from '../../parts/parts.tsx';
import { mustRestart, Restarts } from '../../parts/restart.tsx';
import { say } from '../../parts/toast.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { configWords } from './config-words.ts';

const ICONS: Readonly<Record<keyof typeof TOPICS, IconNode>> = {
  node: Cpu,
  flight: Plane,
  video: Video,
  network: RadioTower,
  access: ShieldCheck,
  ai: Bot,
  extensions: Puzzle,
  storage: Database,
  maps: MapIcon,
  fleet: Network,
  advanced: Wrench,
};

/** The settings by topic, as their schema describes them, with what must restart for each. */
export function ConfigTab(): JSX.Element {
  const schema = useAsk('config.schema.get');
  const config = useAsk('config.get');
  const closed = denied('config.put');
  const { page, rest } = place.value;
  // The topic is the last part of the address, wherever this is shown.
  const last = rest.at(-1);
  const topic = rest.length > 1 && last !== undefined && last in ICONS ? last : undefined;
  const above = topic === undefined ? rest : rest.slice(0, -1);
  const save = async (key: string, value: unknown, force: boolean): Promise<void> => {
    const body = { key, value, ...(force ? { force } : {}) };
    const { restart_required: restarts, cleared, note } = await call('config.put', { body });
    mustRestart(restarts);
    if (cleared.length > 0) say(t.config.cleared({ keys: cleared.join(', ') }), 'warn');
    if (note !== null) say(note, 'warn');
    if (key === 'agent.name') void enter().catch(() => undefined); // the page goes on asking who it is
  };
  return (
    <>
      <Card title={t.config.title} icon={SlidersHorizontal} wide>
        <p class="hint">{t.config.hint}</p>
        <Restarts />
        <AddKey />
        <ErrorNote error={schema.error ?? config.error} onRetry={config.reload} />
        {schema.data === null || config.data === null ? (
          <Awaited />
        ) : (
          <SchemaForm
            schema={schema.data}
            values={config.data}
            onSave={save}
            onSaved={(count) => {
              say(t.config.saved({ count }), 'good');
              config.reload();
            }}
            why={closed === null ? null : t.denied[closed]}
            words={configWords}
            topics={{ chosen: topic, hrefOf: (id) => hrefOf(page, ...above, id), icons: ICONS }}
          />
        )}
      </Card>
      <SettingsSections />
    </>
  );
}
