import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
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
  // Of several that are saved one after the other, each is put into what the last one left.
  const settings = useRef(data.settings);
  settings.current = data.settings;
  const save = async (path: string, value: unknown): Promise<void> => {
    const { key, value: whole } = withMember(settings.current, path, value);
    await call('plugins.id.config.put', { params: { id }, body: { key, value: whole } });
    settings.current = { ...settings.current, [key]: whole };
  };
  return (
    <SchemaForm
      schema={data.manifest?.settings ?? {}}
      values={data.settings}
      onSave={save}
      onSaved={() => {
        say(t.extensions.saved, 'good');
        reload();
      }}
      why={closed === null ? null : t.denied[closed]}
    />
  );
}
