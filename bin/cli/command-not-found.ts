import { Errors, type Hook } from '@oclif/core';
import { plainText } from '../../shared/plain-text.ts';
import { textDistance } from '../../shared/text-distance.ts';
import { EXIT } from './exit-codes.ts';

/** No command has so many letters; the comparison of longer words would take its time. */
const MAX_CHARS = 64;
const MAX_SHOWN = 3;

/** oclif runs it for a command that is not there. It says what is nearest, and runs nothing: that could arm a vehicle. */
const commandNotFound: Hook.CommandNotFound = async ({ id, config }) => {
  const { bin } = config;
  const typed = id.split(':');
  const all = [...config.commandIDs, ...config.topics.map(({ name }) => name)].map((name) => name.split(':'));
  const topic = config.topics.find(({ name }) => name === typed[0])?.name;
  const inTopic = all.filter((words) => words.length > 1 && words[0] === topic);
  const nearest = nearestTo(typed, topic === undefined ? all : inTopic);
  const advice =
    nearest.length === 0
      ? `See ${[bin, 'help', topic ?? ''].join(' ').trim()}.`
      : `Did you mean ${nearest.map((words) => `${bin} ${words}`).join(', or ')}?`;
  return Promise.reject(
    new Errors.CLIError(plainText(`command ${typed.join(' ')} not found. ${advice}`), { exit: EXIT.usage }),
  );
};

export default commandNotFound;

/** Those with the least distance, if it is no more than a slip. Words after the command's own are its arguments. */
function nearestTo(typed: readonly string[], known: readonly (readonly string[])[]): readonly string[] {
  let least = Infinity;
  let found: readonly string[] = [];
  // The longest first: what explains more of the words that were typed.
  for (const words of known.toSorted((a, b) => b.length - a.length)) {
    const name = words.join(' ');
    const text = typed.slice(0, words.length).join(' ');
    const allowed = Math.max(1, Math.floor(name.length / 4));
    const distance = text.length > MAX_CHARS ? Infinity : textDistance(text.toLowerCase(), name);
    const isShorter = words.length < (found[0]?.split(' ').length ?? 0);
    if (distance > allowed || distance > least || (distance === least && isShorter)) continue;
    found = distance < least ? [name] : [...found, name];
    least = distance;
  }
  return [...new Set(found)].slice(0, MAX_SHOWN);
}
