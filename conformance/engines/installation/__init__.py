"""Where engines under test are kept on this machine: installing those that a package registry has,
and keeping the places of those that a user brings.

An engine's file says what the engine is (`source`). Packages are installed into the user's cache
folder, and places are kept in the user's data folder (`places`). What an engine lacks to be started
is found by `startable`. Imports refengine's errors and messages alone. Begin with `source`.
"""
