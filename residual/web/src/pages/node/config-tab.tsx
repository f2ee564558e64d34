import type { JSX } from 'preact';

/** The configuration as a form from its schema, with what must restart for each change. */
export function ConfigTab(): JSX.Element {
  return <div />;
}
