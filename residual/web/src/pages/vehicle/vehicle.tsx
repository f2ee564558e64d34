import { Cable, Drone, FileClock, Puzzle, SlidersHorizontal, Wrench } from 'lucide';
import type { ComponentType, JSX } from 'preact';
import { keysOf } from '../../../../../shared/member.ts';
import { go, place } from '../../app/route.ts';
import { ExtensionFrame } from '../../extensions/frame.tsx';
import { usePanels } from '../../extensions/panels.tsx';
import { Tabs } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { LinkTab } from './link/link-tab.tsx';
import { LogsTab } from './logs/logs-tab.tsx';
import { OverviewTab } from './overview/overview-tab.tsx';
import { ParamsTab } from './params/params-tab.tsx';
import { SetupTab } from './setup/setup-tab.tsx';
import css from './vehicle.module.css';

const TABS = {
  overview: { icon: Drone, Shown: OverviewTab },
  parameters: { icon: SlidersHorizontal, Shown: ParamsTab },
  setup: { icon: Wrench, Shown: SetupTab },
  logs: { icon: FileClock, Shown: LogsTab },
  link: { icon: Cable, Shown: LinkTab },
} as const;
type TabId = keyof typeof TABS;
/** Addresses of earlier versions, in links and bookmarks, and the tab that each is in now. */
const OLDER: Readonly<Record<string, TabId>> = {
  params: 'parameters',
  calibration: 'setup',
  messages: 'logs',
  signing: 'link',
};
/** Before the extension's id and its panel's, in the address. */
const EXTENSION = 'extension';
const IDS = keysOf(TABS);

/** The flight controller: how it is, and what can be set, calibrated, read and signed there. */
export default function Vehicle(): JSX.Element {
  const panels = usePanels('fc-tab').map((panel) => ({ ...panel, tab: `${panel.plugin}/${panel.id}` }));
  const [first = '', ...rest] = place.value.rest;
  const panel = first === EXTENSION ? panels.find(({ tab }) => tab === rest.join('/')) : undefined;
  const own = IDS.find((id) => id === first) ?? (Object.hasOwn(OLDER, first) ? OLDER[first] : undefined);
  const chosen = own ?? 'overview';
  const Shown: ComponentType = TABS[chosen].Shown;
  return (
    <div class={css['vehicle-page']}>
      <Tabs
        label={t.app.page.vehicle}
        tabs={[
          ...IDS.map((id) => ({ id, name: t.vehicle.tabs[id], icon: TABS[id].icon })),
          ...panels.map(({ tab, title }) => ({ id: tab, name: title, icon: Puzzle })),
        ]}
        chosen={panel?.tab ?? chosen}
        onChoose={(tab) =>
          IDS.some((id) => id === tab) ? go('vehicle', tab) : go('vehicle', EXTENSION, ...tab.split('/'))
        }
      />
      {panel === undefined ? <Shown /> : <ExtensionFrame key={panel.tab} data={panel.data} slot="fc-tab" />}
    </div>
  );
}
