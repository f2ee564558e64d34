import {
  FolderOpen,
  HardDriveDownload,
  type IconNode,
  MessageSquareText,
  PlaneTakeoff,
  Server,
} from 'lucide';
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { place } from '../../../app/route.ts';
import { Icon, Note, Sections } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { sectionHref, sectionOf } from '../../../vehicle/section.ts';
import { Flights } from './flights.tsx';
import css from './logs.module.css';
import { MessagesTab } from './messages-tab.tsx';
import { Tlogs } from './tlogs.tsx';
import { Uploads } from './uploads.tsx';
import { VehicleLogs } from './vehicle-logs.tsx';
import { VIEW, viewHref } from './view-address.ts';

const SECTIONS = ['flights', 'vehicle', 'node', 'messages'] as const;
const ICONS: Readonly<Record<(typeof SECTIONS)[number], IconNode>> = {
  flights: PlaneTakeoff,
  vehicle: HardDriveDownload,
  node: Server,
  messages: MessageSquareText,
};

/** The logs that the vehicle writes in flight, and those of the node; or one of them in the viewer. */
export function LogsTab(): JSX.Element {
  return place.value.rest[1] === VIEW ? <Viewer /> : <LogLists />;
}

/** Loaded with the first log that is opened. */
function Viewer(): JSX.Element {
  const [loaded, setLoaded] = useState<{ Component: ComponentType } | 'failed' | null>(null);
  useEffect(() => {
    let shown = true;
    import('../viewer/log-viewer.tsx').then(
      ({ default: Component }) => shown && setLoaded({ Component }),
      () => shown && setLoaded('failed'),
    );
    return () => {
      shown = false;
    };
  }, []);
  if (loaded === 'failed') return <Note tone="bad">{t.app.noAnswer}</Note>;
  return loaded === null ? <p class="first">{t.vehicle.logs.loading}</p> : <loaded.Component />;
}

function LogLists(): JSX.Element {
  const section = sectionOf(SECTIONS, { messages: 'messages' }, 'flights');
  return (
    <Sections
      label={t.vehicle.sectionsOf({ tab: t.vehicle.tabs.logs })}
      sections={SECTIONS.map((id) => ({
        id,
        name: t.vehicle.sections[id],
        icon: ICONS[id],
        href: sectionHref('logs', id),
      }))}
      chosen={section}
    >
      {section === 'flights' ? <Flights /> : null}
      {section === 'vehicle' ? <VehicleLogs /> : null}
      {section === 'node' ? (
        <>
          <Tlogs />
          <Uploads />
        </>
      ) : null}
      {section === 'messages' ? <MessagesTab /> : null}
      {section === 'messages' ? null : (
        <p class={css['file']}>
          <a class="button plain" href={viewHref()}>
            <Icon of={FolderOpen} /> {t.vehicle.plots.openFile}
          </a>
        </p>
      )}
    </Sections>
  );
}
