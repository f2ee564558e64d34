import { Cable, Crosshair, type IconNode, IdCard, ListTree, Signature } from 'lucide';
import type { ComponentType, JSX } from 'preact';
import { keysOf } from '../../../../../../shared/member.ts';
import { Sections } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { sectionHref, sectionOf } from '../../../vehicle/section.ts';
import { Connection } from './connection.tsx';
import { Corrections } from './corrections.tsx';
import { Inspector } from './inspector.tsx';
import { RemoteId } from './remote-id.tsx';
import { SigningTab } from './signing-tab.tsx';

const SECTIONS = {
  connection: { icon: Cable, Shown: Connection },
  corrections: { icon: Crosshair, Shown: Corrections },
  'remote-id': { icon: IdCard, Shown: RemoteId },
  signing: { icon: Signature, Shown: SigningTab },
  inspector: { icon: ListTree, Shown: Inspector },
} as const satisfies Record<string, { readonly icon: IconNode; readonly Shown: ComponentType }>;
const IDS = keysOf(SECTIONS);

/** What goes over the link between the node and the vehicle. */
export function LinkTab(): JSX.Element {
  const chosen = sectionOf(IDS, { signing: 'signing' }, 'connection');
  const { Shown } = SECTIONS[chosen];
  return (
    <Sections
      label={t.vehicle.sectionsOf({ tab: t.vehicle.tabs.link })}
      sections={IDS.map((id) => ({
        id,
        name: t.vehicle.sections[id],
        icon: SECTIONS[id].icon,
        href: sectionHref('link', id),
      }))}
      chosen={chosen}
    >
      <Shown />
    </Sections>
  );
}
