import { computed, effect, signal } from '@preact/signals';
import { beatHidden } from '../api/presence.ts';
import { armed } from '../api/telemetry.ts';
import { language } from '../language/language.ts';
import { t } from '../strings.ts';
import { alarmWords, mode } from './alarm-now.ts';

/** Warnings spoken by the browser, also while the tab is hidden: a pilot looks at the aircraft. */

const STORED = 'svc-voice';
export const VOICES = ['off', 'warnings', 'all'] as const;
export type Voice = (typeof VOICES)[number];

const synthesis = 'speechSynthesis' in globalThis ? speechSynthesis : null;

export const voice = signal<Voice>(VOICES.find((name) => name === localStorage.getItem(STORED)) ?? 'off');
/** Whether there is a voice in the language of the page; browsers tell their voices a while after they were asked. */
export const hasVoice = signal(knowsLanguage());
/** The browser wants a person's touch first. */
export const isBarred = signal(false);

synthesis?.addEventListener('voiceschanged', () => {
  hasVoice.value = knowsLanguage();
});

function knowsLanguage(): boolean {
  return synthesis?.getVoices().some(({ lang }) => lang.toLowerCase().startsWith(language)) === true;
}

export function chooseVoice(next: Voice): void {
  voice.value = next;
  if (next === 'off') localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, next);
  if (next === 'off') synthesis?.cancel();
  else speak(t.alarm.voice.on);
}

/** @param isUrgent what is being said is broken off */
function speak(text: string, isUrgent = false): void {
  if (synthesis === null || text === '') return;
  if (isUrgent) synthesis.cancel();
  // "SMART_RTL" is two words.
  const utterance = new SpeechSynthesisUtterance(text.replaceAll('_', ' '));
  utterance.lang = language;
  utterance.addEventListener('error', ({ error }) => {
    if (error === 'not-allowed') isBarred.value = true;
  });
  utterance.addEventListener('start', () => {
    isBarred.value = false;
  });
  synthesis.speak(utterance);
}

const warning = computed(() => {
  const { title, does, can } = alarmWords.value ?? { title: '', does: '', can: '' };
  return title === '' ? '' : [`${title}.`, does, can].filter((each) => each !== '').join(' ');
});
// Of a vehicle that is not heard it is not known, and that is warned of.
const state = computed(() =>
  armed.value === null || armed.value === 'unknown'
    ? ''
    : armed.value
      ? `${t.app.vehicle.armed}.`
      : `${t.app.vehicle.disarmed}.`,
);
const inMode = computed(() => (mode.value === null ? '' : t.alarm.voice.mode({ mode: mode.value })));

effect(() => {
  beatHidden.value = voice.value !== 'off';
});
whenChanged(warning, ['warnings', 'all'], true);
whenChanged(state, ['all']);
whenChanged(inMode, ['all']);

/** Says it once when it is another text than before; a warning that stands there already too, the rest not. */
function whenChanged(text: { readonly value: string }, at: readonly Voice[], isUrgent = false): void {
  let said: string | null = isUrgent ? '' : null;
  effect(() => {
    const now = text.value;
    if (now === said || (now === '' && !isUrgent)) return;
    const isFirst = said === null;
    said = now;
    if (!isFirst && at.includes(voice.peek())) speak(now, isUrgent);
  });
}
