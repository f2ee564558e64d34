import type { JSX } from 'preact';
import { keysOf } from '../../../../../shared/member.ts';
import { go, place } from '../../app/route.ts';
import { Tabs } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { ExtensionFrame } from '../extensions/frame.tsx';
import { usePanels } from '../extensions/panels.tsx';
import { CalibrationTab } from './calibration-tab.tsx';
import { LinkTab } from './link-tab.tsx';
import { LogsTab } from './logs-tab.tsx';
import { MessagesTab } from './messages-tab.tsx';
import { ParamsTab } from './params-tab.tsx';
import { SetupTab } from './setup-tab.tsx';
import { SigningTab } from './signing-tab.tsx';
import css from './vehicle.module.css';

const TABS = {
  parameters: ParamsTab,
  setup: SetupTab,
  calibration: CalibrationTab,
  messages: MessagesTab,
  logs: LogsTab,
  signing: SigningTab,
  link: LinkTab,
} as const;
/** Before the extension's id and its panel's, in the address. */
const EXTENSION = 'extension';
const IDS = keysOf(TABS);

/** The flight controller: what can be set, calibrated, read and signed there. */
export default function Vehicle(): JSX.Element {
  const panels = usePanels('fc-tab').map((panel) => ({ ...panel, tab: `${panel.plugin}/${panel.id}` }));
  const [first, ...rest] = place.value.rest;
  const panel = first === EXTENSION ? panels.find(({ tab }) => tab === rest.join('/')) : undefined;
  const own = IDS.find((id) => id === first) ?? 'parameters';
  const Shown = TABS[own];
  return (
    <div class={css['vehicle-page']}>
      <Tabs
        label={t.app.page.vehicle}
        tabs={[
          ...IDS.map((id) => ({ id, name: t.vehicle.tabs[id] })),
          ...panels.map(({ tab, title }) => ({ id: tab, name: title })),
        ]}
        chosen={panel?.tab ?? own}
        onChoose={(tab) =>
          IDS.some((id) => id === tab) ? go('vehicle', tab) : go('vehicle', EXTENSION, ...tab.split('/'))
        }
      />
      {panel === undefined ? <Shown /> : <ExtensionFrame key={panel.tab} data={panel.data} slot="fc-tab" />}
    </div>
  );
}
