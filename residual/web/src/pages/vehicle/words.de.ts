import { linkWordsDe } from './link/words.de.ts';
import { logsWordsDe } from './logs/words.de.ts';
import { overviewWordsDe } from './overview/words.de.ts';
import { paramsWordsDe } from './params/words.de.ts';
import { setupWordsDe } from './setup/words.de.ts';
import type { vehicleWords } from './words.ts';

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
