import { mapWordsDe } from '../map/words.de.ts';

import { accessWordsDe } from '../pages/access/words.de.ts';
import { extensionsWordsDe } from '../pages/extensions/words.de.ts';
import { flyWordsDe } from '../pages/fly/words.de.ts';
import { groundWordsDe } from '../pages/ground/words.de.ts';
import { nodeWordsDe } from '../pages/node/words.de.ts';
import { planWordsDe } from '../pages/plan/words.de.ts';
import { setupWordsDe } from '../pages/setup/words.de.ts';
import { vehicleWordsDe } from '../pages/vehicle/words.de.ts';

import type { english } from './english.ts';
import { refusalsDe, unansweredDe } from './refusals.de.ts';

/** Every German word of the page: it says what the English words say. */
export const german: typeof english = {
  app: {
    skip: 'Zum Inhalt',
    pages: 'Seiten',
    theme: { label: 'Darstellung', auto: 'Wie das System', light: 'Hell', dark: 'Dunkel', sun: 'Sonne' },
    language: { label: 'Sprache', auto: 'Wie der Browser' },
    away: (seconds) => `Seit ${seconds} s keine Antwort vom Knoten. Diese Seite kann veraltet sein.`,
    checking: 'Der Knoten wird gefragt …',
    unreachable: (since) => `Knoten nicht erreichbar seit ${since}.`,
    unreachableToDo:
      'Prüfen, ob er Strom hat und dieses Gerät in seinem Netz ist. Diese Seite macht von selbst weiter.',
    newer: 'Der Knoten hat eine neue Version dieser Seite.',
    reload: 'Neu laden',
    noAnswer: 'Der Knoten antwortet noch nicht. Neuer Versuch …',
    page: {
      fly: 'Fliegen',
      plan: 'Planen',
      vehicle: 'Fluggerät',
      node: 'Knoten',
      extensions: 'Erweite\u00ADrungen',
      access: 'Zugang',
      ground: 'Bodenstation',
      setup: 'Einrichtung',
    },
    relay: {
      title: (name) => `${name} über Funk`,
      back: 'Zurück zur Bodenstation',
    },
    vehicle: {
      none: 'Kein Fluggerät',
      silent: 'Nichts zu hören',
      armed: 'Scharf',
      disarmed: 'Entschärft',
      battery: (percent) => `${percent} %`,
      batteryLabel: 'Akku',
      flying: 'Fliegt',
      mode: 'Flugmodus',
      satellites: 'Satelliten',
      label: 'Fluggerät',
    },
    menu: 'Menü',
    more: 'Mehr',
    signOut: 'Abmelden',
    close: 'Schließen',
    cancel: 'Abbrechen',
    retry: 'Erneut versuchen',
    loading: 'Wird geladen …',
    copy: 'Kopieren',
    copied: 'Kopiert',
    save: 'Speichern',
    none: '–',
    old: (age) => `${age} alt`,
    holdHint: 'Zum Bestätigen gedrückt halten.',
    slideHint: 'Zum Bestätigen bis ans Ende schieben.',
    failed: 'Das hat nicht geklappt. Erneut versuchen.',
    force: 'Trotz scharfer Motoren (halten)',
  },
  camera: {
    label: 'Kamera',
    main: 'Hauptkamera',
    shown: (name) => `Zu sehen: ${name}.`,
  },
  denied: {
    'not-built': 'Diese Version des Knotens kann das nicht.',
    'not-here': 'Auf diesem Knoten abgeschaltet oder nicht Teil seines Profils.',
    'key-only': 'Dafür braucht es den Kopplungsschlüssel.',
    scope: 'Der Token erlaubt das nicht.',
    relay: 'Über Funk nicht möglich. Die Seite der Drohne in ihrem eigenen Netz öffnen.',
  },
  addKey: {
    label: 'Kopplungsschlüssel',
    hint: 'Manches verlangt den Schlüssel selbst. Beim Neuladen vergisst ihn die Seite.',
    button: 'Schlüssel benutzen',
  },
  signIn: {
    title: 'Anmelden',
    toDrone: 'An dieser Drohne anmelden',
    toGround: 'An dieser Bodenstation anmelden',
    with: 'Anmelden mit',
    pin: 'PIN',
    other: 'Schlüssel oder Token',
    key: 'Kopplungsschlüssel',
    token: 'Token',
    secret: 'Kopplungsschlüssel oder Token',
    help: 'Womit anmelden?',
    kinds: {
      pin: '4 bis 12 Ziffern, bei der Einrichtung gesetzt. Für Personen im Netz des Knotens.',
      key: 'Beginnt mit svc_. Bei der Kopplung des Knotens einmal gezeigt. Öffnet alles.',
      token: 'Unter Zugang für ein Programm erstellt, etwa ein KI-Programm. Öffnet, wofür er erstellt wurde.',
    },
    keep: 'In diesem Browser angemeldet bleiben',
    keepHint:
      'Ohne Haken gilt die Anmeldung, bis dieser Tab geschlossen wird; mit Haken bis zu 24 Stunden. Schlüssel und Token werden nie gespeichert.',
    button: 'Anmelden',
    ended: 'Die Anmeldung ist abgelaufen, oder PIN oder Schlüssel haben sich geändert. Neu anmelden.',
    unknown: 'Weder PIN (4 bis 12 Ziffern) noch Kopplungsschlüssel noch Token.',
    wrong:
      'PIN, Schlüssel oder Token falsch. Vergessen? Über Hotspot oder USB-Kabel des Knotens eine neue PIN setzen.',
    noPin:
      'Noch keine PIN gesetzt. Den Kopplungsschlüssel benutzen oder über Hotspot oder USB-Kabel des Knotens eine PIN setzen.',
    refused: 'Der Knoten weist diesen Browser ab',
    nearer: 'Dieser Knoten ist noch nicht gekoppelt und antwortet nur an seinem Hotspot und USB-Kabel.',
  },
  time: {
    seconds: (n) => `${n} s`,
    minutes: (n) => `${n} min`,
    hours: (n) => `${n} h`,
    days: (n) => (n === 1 ? '1 Tag' : `${n} Tage`),
  },
  refusals: refusalsDe,
  unanswered: unansweredDe,
  fly: flyWordsDe,
  plan: planWordsDe,
  vehicle: vehicleWordsDe,
  node: nodeWordsDe,
  extensions: extensionsWordsDe,
  access: accessWordsDe,
  ground: groundWordsDe,
  setup: setupWordsDe,
  map: mapWordsDe,
  form: {
    search: 'Einstellungen suchen',
    noHit: 'Keine passenden Einstellungen.',
    nothing: 'Keine Einstellungen.',
    empty: 'leer',
    on: 'an',
    off: 'aus',
    unset: 'wie im Profil',
    default: (value) => `Standard: ${value}`,
    between: (low, high) => `${low} bis ${high}`,
    atLeast: (low) => `mindestens ${low}`,
    atMost: (high) => `höchstens ${high}`,
    lines: (most) => `bis zu ${most}`,
    oneALine: 'eins je Zeile',
    secretSet: 'gesetzt; ein neuer Wert ersetzt ihn',
    secretUnset: 'nicht gesetzt',
    clear: 'Leeren',
    clearOf: (name) => `${name} leeren`,
    saveOf: (name) => `${name} speichern`,
    rootOnly: 'Nur root auf dem Knoten kann das ändern.',
    reason: (text) => `Grund: ${text}.`,
    noJson: 'Kein gültiges JSON.',
  },
  config: {
    title: 'Konfiguration',
    hint: 'Jeder Wert wird einzeln in config.yaml gespeichert. Er gilt, sobald sein Dienst neu gestartet ist.',
    saved: (key) => `${key} gespeichert.`,
    cleared: (keys) => `Geleert, damit es nicht an einen anderen Host geht: ${keys}.`,
    restart: 'Gespeichert. Zum Anwenden neu starten:',
    restartOf: (name) => `${name} neu starten`,
    restarted: (name) => `${name} läuft mit der neuen Konfiguration.`,
    notBack: (name) => `${name} ist nicht zurückgekommen. Das Log des Knotens ansehen.`,
  },
  chart: {
    summary: (newest, least, most) => `jetzt ${newest}, niedrigster Wert ${least}, höchster ${most}`,
  },
};
