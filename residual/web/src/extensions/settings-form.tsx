import type { JSX } from 'preact';
import { call } from '../api/client.ts';
import { denied } from '../api/node.ts';
import { SchemaForm } from '../parts/form/schema-form.tsx';
import { say } from '../parts/toast.tsx';
import { t } from '../strings.ts';
import { withMember } from './settings.ts';
import type { Detailed } from './status.ts';

/** The settings of an extension, as a form from their schema. */
export function SettingsForm({ data, reload }: { data: Detailed; reload: () => void }): JSX.Element {
  const id = data.install.plugin_id;
  const closed = denied('plugins.id.config.put');
  const save = async (path: string, value: unknown): Promise<void> => {
    const { key, value: whole } = withMember(data.settings, path, value);
    await call('plugins.id.config.put', { params: { id }, body: { key, value: whole } });
    say(t.extensions.saved, 'good');
    reload();
  };
  return (
    <SchemaForm
      schema={data.manifest?.settings ?? {}}
      values={data.settings}
      onSave={save}
      why={closed === null ? null : t.denied[closed]}
    />
  );
}
