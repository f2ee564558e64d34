import type { extensionsViewWords } from './view-words.ts';

/** The German words of view-words.ts. */
export const extensionsViewWordsDe: typeof extensionsViewWords = {
  by: (author) => `von ${author}`,
  add: 'Erweiterung installieren',
  emptyHint:
    'Erweiterungen bringen Seiten, Werkzeuge und Dienste auf diesen Knoten. Jede sagt vorher, was sie darf.',
  mayNothing: 'Sie hat keine Rechte.',
  may: 'Sie darf',
  moreGrants: (count) => (count === 1 ? 'und 1 weiteres' : `und ${count} weitere`),
  steps: ['Auswählen', 'Rechte', 'Installiert'],
  step: (at, of, name) => `Schritt ${at} von ${of}: ${name}`,
  from: 'Woher',
  sources: { file: 'Datei', url: 'Webadresse' },
  url: 'Adresse des Archivs',
  urlHint: 'Der Knoten lädt es selbst. Es wird ausgeschaltet installiert; danach kommen die Rechte.',
  sha: 'SHA-256 des Archivs',
  shaHint: '64 hexadezimale Ziffern, vom Herausgeber.',
  download: 'Laden und installieren',
  settings: 'Öffnen',
};
