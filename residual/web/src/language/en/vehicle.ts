import { paramsWords } from './params.ts';
import { linkWords } from './vehicle-link.ts';
import { logsWords } from './vehicle-logs.ts';
import { overviewWords } from './vehicle-overview.ts';
import { setupWords } from './vehicle-setup.ts';

/** Words of the page vehicle: its tabs and sections; each folder has its own. */
export const vehicleWords = {
  tabs: { overview: 'Overview', parameters: 'Parameters', setup: 'Set-up', logs: 'Logs', link: 'Link' },
  sectionsOf: (tab: string) => `Sections of ${tab}`,
  sections: {
    sensors: 'Sensors',
    radio: 'Radio',
    modes: 'Flight modes',
    motors: 'Motors',
    failsafes: 'Failsafes',
    connection: 'Connection',
    corrections: 'Corrections (RTK)',
    'remote-id': 'Remote ID',
    signing: 'Signing',
    inspector: 'Messages',
    flights: 'Flights',
    vehicle: 'On the vehicle',
    node: 'On the node',
    messages: 'Messages',
  },
  overview: overviewWords,
  ...setupWords,
  ...paramsWords,
  ...logsWords,
  ...linkWords,
};
