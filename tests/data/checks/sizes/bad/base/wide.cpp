// wide wide wide wide wide wide wide wide wide wide wide wide wide wide wide wi.
