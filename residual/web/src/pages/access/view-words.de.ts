import type { accessViewWords } from './view-words.ts';

/** The German words of view-words.ts. */
export const accessViewWordsDe: typeof accessViewWords = {
  tab: {
    overview: 'Übersicht',
    people: 'Personen',
    programs: 'Programme',
    connection: 'Verbindung',
    fleet: 'Flotte',
    audit: 'Protokoll',
  },
  people: {
    title: 'Personen',
    count: (signedIn) => (signedIn === 1 ? '1 Person angemeldet' : `${signedIn} Personen angemeldet`),
    pin: 'Eine PIN ist gesetzt.',
    noPin: 'Keine PIN gesetzt: Anmelden geht nur mit dem Kopplungsschlüssel.',
    open: 'PIN und Sitzungen',
  },
  pairing: {
    paired: 'Alle Rechte hat nur, wer den Kopplungsschlüssel besitzt.',
    unpaired: 'Jeder am Hotspot, an USB oder an diesem Rechner kann ihn benutzen.',
    open: 'Kopplung',
  },
  ai: {
    title: 'KI-Programme',
    none: 'Kein Programm hat Zugang.',
    count: (live) => (live === 1 ? '1 Programm hat Zugang' : `${live} Programme haben Zugang`),
    off: 'Token sind auf diesem Knoten abgeschaltet.',
    flies: (count) => (count === 1 ? 'Eines davon darf fliegen.' : `${count} davon dürfen fliegen.`),
    connect: 'KI-Programm verbinden',
    open: 'Alle Programme',
    until: (when) => `bis ${when}`,
    gone: 'Widerrufen und abgelaufen',
    qr: 'Der Token als QR-Code',
    defaultName: 'KI-Programm',
    more: 'Weitere Optionen',
    snippets: 'Programm einrichten',
    otherClients: 'Andere Programme',
    ends: 'gültig bis',
  },
  secure: {
    title: 'Verbindung',
    open: 'Zertifikat und HTTPS',
  },
  fleet: { open: 'Flotte' },
  audit: {
    title: 'Zuletzt',
    open: 'Ganzes Protokoll',
    none: 'Zuletzt wurde nichts geändert oder abgelehnt.',
    outcomes: { done: 'erledigt', refused: 'abgelehnt', unknown: 'unbekannt' },
  },
  scopes: {
    read: 'Ansehen',
    safe_write: 'Aufnehmen',
    admin: 'Einstellen',
    flight: 'Fliegen',
    destructive: 'Löschen',
    secret_read: 'Geheimnisse lesen',
  },
};
