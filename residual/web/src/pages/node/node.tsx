import {
  ChartLine,
  CircleArrowUp,
  type IconNode,
  LayoutDashboard,
  Map as MapIcon,
  Network,
  RadioTower,
  ScrollText,
  SlidersHorizontal,
  Video,
} from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { keysOf } from '../../../../../shared/member.ts';
import type { RowId } from '../../../../../shared/routes/table.ts';
import { denied } from '../../api/node.ts';
import { go, hrefOf, place } from '../../app/route.ts';
import css from '../../network/node.module.css';
import { RadioTab } from '../../network/radio/radio-tab.tsx';
import { Note, Tabs } from '../../parts/parts.tsx';
import { Sections } from '../../parts/sections.tsx';
import { t } from '../../strings.ts';
import { ConfigTab } from './config-tab.tsx';
import { LogTab } from './log-tab.tsx';
import { MapsTab } from './maps-tab.tsx';
import { MetricsTab } from './metrics-tab.tsx';
import { NetworkTab } from './network-tab.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { UpdateTab } from './update-tab.tsx';
import { VideoTab } from './video-tab.tsx';

/** Each section, with the row without which it has nothing to show, and its icon. Its name is its address: `#/node/radio`. */
const SECTIONS = {
  overview: [OverviewTab, 'status.get', LayoutDashboard],
  network: [NetworkTab, 'network.get', Network],
  radio: [RadioTab, 'wfb.get', RadioTower],
  video: [VideoTab, 'video.get', Video],
  log: [LogTab, 'logs.get', ScrollText],
  metrics: [MetricsTab, 'observability.aggregate.get', ChartLine],
  config: [ConfigTab, 'config.get', SlidersHorizontal],
  maps: [MapsTab, 'maps.get', MapIcon],
  update: [UpdateTab, 'version.get', CircleArrowUp],
} as const satisfies Record<string, readonly [() => JSX.Element, RowId, IconNode]>;
type Section = keyof typeof SECTIONS;

/** Each tab, with the sections that belong together in it; the first is the one that it opens. */
const TABS = {
  overview: [LayoutDashboard, ['overview']],
  connections: [Network, ['network', 'radio']],
  video: [Video, ['video']],
  records: [ScrollText, ['log', 'metrics']],
  system: [SlidersHorizontal, ['config', 'maps', 'update']],
} as const satisfies Record<string, readonly [IconNode, readonly [Section, ...Section[]]]>;
const IDS = keysOf(TABS);

export default function Node(): JSX.Element {
  const chosen = keysOf(SECTIONS).find((id) => id === place.value.rest[0]) ?? 'overview';
  const tab = IDS.find((id) => TABS[id][1].some((each) => each === chosen)) ?? 'overview';
  const [Shown, row] = SECTIONS[chosen];
  const closed = denied(row);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a phone the tabs scroll; the chosen one must be seen.
    box.current
      ?.querySelector('[aria-selected=true]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [tab]);
  const sections: readonly Section[] = TABS[tab][1];
  const shown = closed === null ? <Shown /> : <Note>{t.denied[closed]}</Note>;
  return (
    <div class={css['node-page']} ref={box}>
      <Tabs
        label={t.node.tabs}
        tabs={IDS.map((id) => ({ id, name: t.node.group[id], icon: TABS[id][0] }))}
        chosen={tab}
        onChoose={(id) => go('node', TABS[id][1][0])}
      />
      <div role="tabpanel" aria-label={t.node.group[tab]} key={chosen}>
        {sections.length === 1 ? (
          shown
        ) : (
          <Sections
            label={t.node.group[tab]}
            sections={sections.map((id) => ({
              id,
              name: t.node.tab[id],
              icon: SECTIONS[id][2],
              href: hrefOf('node', id),
            }))}
            chosen={chosen}
          >
            {shown}
          </Sections>
        )}
      </div>
    </div>
  );
}
