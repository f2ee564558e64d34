import type { JSX } from 'preact';
import { ExtensionFrame } from '../../extensions/frame.tsx';
import { type Detailed, isOn } from '../../extensions/status.ts';
import { Note } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';

/** The extension's own page, in its place below Extensions. */
export function ExtensionPage({ data }: { data: Detailed }): JSX.Element {
  if (!isOn(data.install.status)) return <Note>{t.extensions.frame.off}</Note>;
  if (!data.granted_capabilities.some((grant) => grant.startsWith('ui.slot.')))
    return <Note>{t.extensions.frame.notGranted}</Note>;
  return <ExtensionFrame data={data} slot="page" />;
}
