import type { vehicleWords } from '../en/vehicle.ts';
import { paramsWordsDe } from './params.ts';
import { linkWordsDe } from './vehicle-link.ts';
import { logsWordsDe } from './vehicle-logs.ts';
import { overviewWordsDe } from './vehicle-overview.ts';
import { setupWordsDe } from './vehicle-setup.ts';

/** The German words of words.ts. */
export const vehicleWordsDe: typeof vehicleWords = {
  tabs: {
    overview: 'Übersicht',
    parameters: 'Parameter',
    setup: 'Einrichtung',
    logs: 'Logs',
    link: 'Verbindung',
  },
  sectionsOf: (tab) => `Abschnitte von ${tab}`,
  sections: {
    sensors: 'Sensoren',
    radio: 'Fernsteuerung',
    modes: 'Flugmodi',
    motors: 'Motoren',
    failsafes: 'Failsafes',
    connection: 'Anschluss',
    corrections: 'Korrekturen (RTK)',
    'remote-id': 'Remote ID',
    signing: 'Signatur',
    inspector: 'Nachrichten',
    flights: 'Flüge',
    vehicle: 'Auf dem Fluggerät',
    node: 'Auf dem Knoten',
    messages: 'Meldungen',
  },
  overview: overviewWordsDe,
  ...setupWordsDe,
  ...paramsWordsDe,
  ...logsWordsDe,
  ...linkWordsDe,
};
