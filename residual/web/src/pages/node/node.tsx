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
import { go, place } from '../../app/route.ts';
import css from '../../network/node.module.css';
import { RadioTab } from '../../network/radio/radio-tab.tsx';
import { Note, Tabs } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { ConfigTab } from './config-tab.tsx';
import { LogTab } from './log-tab.tsx';
import { MapsTab } from './maps-tab.tsx';
import { MetricsTab } from './metrics-tab.tsx';
import { NetworkTab } from './network-tab.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { UpdateTab } from './update-tab.tsx';
import { VideoTab } from './video-tab.tsx';

/** Each tab, with the row without which it has nothing to show, and its icon. */
const TABS = {
  overview: [OverviewTab, 'status.get', LayoutDashboard],
  network: [NetworkTab, 'network.get', Network],
  radio: [RadioTab, 'wfb.get', RadioTower],
  video: [VideoTab, 'video.get', Video],
  maps: [MapsTab, 'maps.get', MapIcon],
  log: [LogTab, 'logs.get', ScrollText],
  metrics: [MetricsTab, 'observability.aggregate.get', ChartLine],
  config: [ConfigTab, 'config.get', SlidersHorizontal],
  update: [UpdateTab, 'version.get', CircleArrowUp],
} as const satisfies Record<string, readonly [() => JSX.Element, RowId, IconNode]>;
const IDS = keysOf(TABS);

export default function Node(): JSX.Element {
  const chosen = IDS.find((id) => id === place.value.rest[0]) ?? 'overview';
  const [Tab, row] = TABS[chosen];
  const closed = denied(row);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a phone the tabs scroll; the chosen one must be seen.
    box.current
      ?.querySelector('[aria-selected=true]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [chosen]);
  return (
    <div class={css['node-page']} ref={box}>
      <Tabs
        label={t.node.tabs}
        tabs={IDS.map((id) => ({ id, name: t.node.tab[id], icon: TABS[id][2] }))}
        chosen={chosen}
        onChoose={(id) => go('node', id)}
      />
      <div role="tabpanel" aria-label={t.node.tab[chosen]} key={chosen}>
        {closed === null ? <Tab /> : <Note>{t.denied[closed]}</Note>}
      </div>
    </div>
  );
}
