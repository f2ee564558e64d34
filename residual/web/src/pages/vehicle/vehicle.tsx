import type { JSX } from 'preact';
import { go, place } from '../../app/route.ts';
import { Tabs } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { CalibrationTab } from './calibration-tab.tsx';
import { LinkTab } from './link-tab.tsx';
import { LogsTab } from './logs-tab.tsx';
import { MessagesTab } from './messages-tab.tsx';
import { ParamsTab } from './params-tab.tsx';
import { SigningTab } from './signing-tab.tsx';
import './vehicle.css';

const TABS = {
  parameters: ParamsTab,
  calibration: CalibrationTab,
  messages: MessagesTab,
  logs: LogsTab,
  signing: SigningTab,
  link: LinkTab,
} as const;
type TabId = keyof typeof TABS;
const IDS = Object.keys(TABS) as readonly TabId[];

/** The flight controller: what can be set, calibrated, read and signed there. */
export default function Vehicle(): JSX.Element {
  const chosen = IDS.find((id) => id === place.value.rest[0]) ?? 'parameters';
  const Shown = TABS[chosen];
  return (
    <div class="vehicle-page">
      <Tabs
        label={t.app.page.vehicle}
        tabs={IDS.map((id) => ({ id, name: t.vehicle.tabs[id] }))}
        chosen={chosen}
        onChoose={(id) => go('vehicle', id)}
      />
      <Shown />
    </div>
  );
}
