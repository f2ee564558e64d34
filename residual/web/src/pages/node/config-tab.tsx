import { SlidersHorizontal } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { denied, enter } from '../../api/node.ts';
import { SettingsSections } from '../../extensions/panels.tsx';
import { AddKey } from '../../parts/closed.tsx';
import { SchemaForm } from '../../parts/form/schema-form.tsx';
import { Awaited, Card, ErrorNote } from '../../parts/parts.tsx';
import { mustRestart, Restarts } from '../../parts/restart.tsx';
import { say } from '../../parts/toast.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

/** The configuration as a form from its schema, with what must restart for each change. */
export function ConfigTab(): JSX.Element {
  const schema = useAsk('config.schema.get');
  const config = useAsk('config.get');
  const closed = denied('config.put');
  const save = async (key: string, value: unknown): Promise<void> => {
    const { restart_required: restarts, cleared } = await call('config.put', { body: { key, value } });
    mustRestart(restarts);
    say(t.config.saved({ key }), 'good');
    if (cleared.length > 0) say(t.config.cleared({ keys: cleared.join(', ') }), 'warn');
    config.reload();
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
            why={closed === null ? null : t.denied[closed]}
          />
        )}
      </Card>
      <SettingsSections />
    </>
  );
}
