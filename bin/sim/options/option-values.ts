/** Values of options, read from their texts. Each throws an Error that names the option. */

export function number(name: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= low && value <= high)) {
    throw new Error(`--${name} is a number from ${low} to ${high}, not "${text}"`);
  }
  return value;
}

export function oneOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === text);
  if (choice === undefined) throw new Error(`--${name} is one of ${choices.join(', ')}, not "${text}"`);
  return choice;
}

/** `HOST:PORT`; an IPv6 address may stand in brackets. */
export function hostPort(name: string, text: string, lowest: number): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text);
  if (match === null) throw new Error(`--${name} is HOST:PORT, not "${text}"`);
  return { host: match[1] ?? match[2] ?? '', port: number(name, match[3] ?? '', lowest, 65535) };
}

/** `NAME=VALUE`, which may be given several times. */
export function pairs(name: string, texts: readonly string[]): (readonly [string, string])[] {
  return texts.map((text) => {
    const match = /^([^=]+)=(.+)$/.exec(text);
    if (match === null) throw new Error(`--${name} is NAME=VALUE, not "${text}"`);
    return [match[1] ?? '', match[2] ?? ''];
  });
}
