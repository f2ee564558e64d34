import type { JSX } from 'preact';

export default function Vehicle(): JSX.Element {
  return <div class="page" />;
}
