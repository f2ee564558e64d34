import { render } from 'preact';
import { language } from '../language/language.ts';
import { watchFleet } from './fleet/watch-fleet.ts';
import { Hub } from './hub.tsx';
import '../styles/page.css';

const root = document.getElementById('app');
if (root === null) throw new Error('hub.html has no #app');
document.documentElement.lang = language;
watchFleet();
root.replaceChildren();
render(<Hub />, root);
